/** The length of `sun_path` without its final NUL (unix(7)). */
const MAX_BYTES = 107;

export const SOCKET = `the absolute path of a unix socket of at most ${MAX_BYTES} bytes, also as unix:///path`;

/** Returns the path. */
export function parseSocket(text: string): string {
  const path = text.replace(/^unix:\/\//, '');
  if (!path.startsWith('/')) throw new Error('is not an absolute path');
  if (Buffer.byteLength(path) > MAX_BYTES) throw new Error('is too long for a socket');
  return path;
}
