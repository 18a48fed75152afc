/** An image or file part, whose bytes are not in the journal. */
export interface StoredPart {
  type: 'image' | 'file';
  media_type: string;
  name?: string;
  sha256: string;
  /** In bytes. */
  size: number;
}

/** Whether a part of a message or of a tool output is an image or a file whose bytes the service stores. */
export function isStoredPart(part: object): part is StoredPart {
  const { type, sha256, media_type: mediaType, size } = part as Partial<Record<keyof StoredPart, unknown>>;
  return (
    (type === 'image' || type === 'file') &&
    typeof sha256 === 'string' &&
    typeof mediaType === 'string' &&
    typeof size === 'number'
  );
}
