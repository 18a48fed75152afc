import type { WorkspaceRef } from '../../../api/files.ts';
import type { FileEntry } from '../../../gen/index.ts';
import { formatBytes } from '../../../ui/bytes.ts';
import { ImagePreview } from './image-preview.tsx';
import { NoPreview } from './no-preview.tsx';
import { TextPreview } from './text-preview.tsx';

/** Image types that browsers display. Images are never opened as documents, so scripts in them never run. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/;
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** Preview of the content of a file. */
export function FilePreview({ workspace, entry }: { workspace: WorkspaceRef; entry: FileEntry }) {
  if (entry.size === 0) return <NoPreview>This file is empty.</NoPreview>;
  const type = entry.media_type ?? '';
  if (!IMAGES.test(type)) return <TextPreview workspace={workspace} entry={entry} />;
  if (entry.size > MAX_IMAGE_BYTES)
    return <NoPreview>Images larger than {formatBytes(MAX_IMAGE_BYTES)} have no preview.</NoPreview>;
  return <ImagePreview workspace={workspace} entry={entry} />;
}
