import { isImageType } from '../../../../api/attachments.ts';
import type { ContentPart } from '../../../../gen/index.ts';

/** An image or a file of the message that the user writes. */
export interface Attachment {
  id: string;
  name: string;
  /** Undefined for a file of the workspace, whose type the service determines. */
  mediaType: string | undefined;
  /** In bytes. */
  size: number;
  /** A file of the workspace, or a file of the user, which is uploaded. */
  source: { kind: 'path'; path: string } | { kind: 'file'; file: File };
  /** The upload is complete when it has an id. */
  uploadId: string | undefined;
  /** Uploaded fraction, from 0 to 1. */
  progress: number;
  error: unknown;
}

export const isReady = ({ source, uploadId }: Attachment): boolean =>
  source.kind === 'path' || uploadId !== undefined;

/** The content of a message: a plain text, or the text and then the attachments as parts. All attachments are ready. */
export function contentOf(text: string, attachments: readonly Attachment[]): string | ContentPart[] {
  if (attachments.length === 0) return text;
  const texts: ContentPart[] = text.trim() === '' ? [] : [{ type: 'text', text }];
  return [...texts, ...attachments.map(partOf)];
}

function partOf({ name, mediaType = '', source, uploadId }: Attachment): ContentPart {
  const bytes = source.kind === 'path' ? { path: source.path } : { upload_id: uploadId ?? '' };
  return { type: isImageType(mediaType) ? 'image' : 'file', name, ...bytes };
}
