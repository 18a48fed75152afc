import type { Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { shownBytes } from '../../ui/bytes.ts';
import { ImagePreview } from './image-preview.tsx';
import { NoPreview } from './no-preview.tsx';
import { TextPreview } from './text-preview.tsx';

/** What browsers show as a picture. It is never opened as a document, so what is in it never runs. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/;
const LARGEST_IMAGE = 20 * 1024 * 1024;

/** What is in a file, as far as it can be shown. */
export function Preview({ place, entry }: { place: Place; entry: FileEntry }) {
  if (entry.size === 0) return <NoPreview>This file is empty.</NoPreview>;
  const type = entry.media_type ?? '';
  if (!IMAGES.test(type)) return <TextPreview place={place} entry={entry} />;
  if (entry.size > LARGEST_IMAGE)
    return <NoPreview>There is no preview of images over {shownBytes(LARGEST_IMAGE)}.</NoPreview>;
  return <ImagePreview place={place} entry={entry} />;
}
