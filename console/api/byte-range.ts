import { unwrapData } from './client.ts';

/** A range of a file, in bytes. */
export interface ByteRange {
  first: number;
  length: number;
}

/** Options of a content request that returns the bytes of the range, or fewer at the end of the file. */
export const rangeOptions = ({ first, length }: ByteRange) => ({
  headers: { Range: `bytes=${first}-${first + length - 1}` },
  parseAs: 'blob' as const,
});

/** Returns the content of a response. Throws an ApiError. */
export async function unwrapBlob(
  result: Promise<{ data?: Blob | File | undefined; error?: unknown; response?: Response | undefined }>,
): Promise<Blob> {
  const { data, ...rest } = await result;
  return unwrapData(Promise.resolve({ ...rest, data: data && { data } }));
}
