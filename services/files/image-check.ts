import { refuseField } from '../../lib/errors.ts';
import { IMAGE_HEAD_BYTES, isImageHead } from '../../lib/image-bytes.ts';
import { isImageMediaType } from '../../lib/part-limits.ts';
import type { ContentReader } from './content-reader.ts';
import type { SourcedPart } from './part-sources.ts';
import type { Contents } from './store/contents.ts';
import type { ReadOptions } from './store/workspaces.ts';

interface ImageCheckContext {
  contents: Contents;
  reader: ContentReader;
}

/** Refuses an image whose bytes do not match its media type, with INVALID_REQUEST that names the field. */
export async function checkImage(
  { contents, reader }: ImageCheckContext,
  { type, mediaType, source, pointer }: SourcedPart,
  options: ReadOptions,
): Promise<void> {
  if (type !== 'image' || !isImageMediaType(mediaType)) return;
  const head = Buffer.isBuffer(source) ? source : await headOf(source.contentId);
  if (!isImageHead(mediaType, head))
    throw refuseField(`${pointer}/media_type`, `does not match the bytes, which are no ${mediaType} image`);

  async function headOf(contentId: string): Promise<Buffer> {
    const content = await contents.content(contentId, options);
    if (!content) throw new Error(`the content ${contentId} of a part does not exist`);
    return Buffer.concat(await Array.fromAsync(reader.read(content, 0, IMAGE_HEAD_BYTES, options.signal)));
  }
}
