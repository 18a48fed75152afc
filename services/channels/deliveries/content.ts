import { isImageMediaType, MAX_PARTS } from '../../../lib/part-limits.ts';
import type { AttachmentList } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ReceivedFile } from './inbox-files.ts';

export interface MessageContent {
  contentJson: string;
  attachments: AttachmentList | undefined;
}

/**
 * Returns the content of a message with its files as image and file parts. The files with the given positions, further ones
 * than a message can have, and those that were not received are named as text.
 */
export function messageContent(
  text: string,
  files: readonly ReceivedFile[],
  named: ReadonlySet<number>,
): MessageContent & { positions: number[] } {
  const positions = files
    .flatMap((file, index) => ('path' in file && !named.has(index) ? [index] : []))
    .slice(0, MAX_PARTS);
  const lines = files.flatMap((file, index) => (positions.includes(index) ? [] : [nameFile(file)]));
  const words = [text, ...lines].filter((line) => line.trim() !== '').join('\n');
  const parts: object[] = words === '' ? [] : [{ type: 'text', text: words }];
  const attachments: AttachmentList = { attachments: [] };
  for (const index of positions) {
    const file = files[index];
    if (!file || !('path' in file)) continue;
    const isImage = isImageMediaType(file.mediaType);
    parts.push({
      type: isImage ? 'image' : 'file',
      ...(isImage && { media_type: file.mediaType }),
      name: file.name,
    });
    attachments.attachments.push({ source: { $case: 'path', value: file.path } });
  }
  const hasAttachments = attachments.attachments.length > 0;
  return {
    contentJson: JSON.stringify(parts),
    attachments: hasAttachments ? attachments : undefined,
    positions,
  };
}

function nameFile(file: ReceivedFile): string {
  if ('path' in file) return `[File: ${file.path} (${file.size} bytes)]`;
  return `[The file ${JSON.stringify(file.name)} was not received. ${file.problem}]`;
}
