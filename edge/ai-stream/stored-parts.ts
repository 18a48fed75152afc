import { routeUrl } from '../register-route.ts';

/** A file part of a UIMessage. */
export interface UiFile {
  type: 'file';
  mediaType: string;
  filename?: string;
  url: string;
}

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * An image or a file whose bytes the service stores, as AI SDK shows it. Undefined for any other value. `partsUrl` is the
 * URL of the folder from which the bytes are read.
 */
export function storedFile(part: unknown, partsUrl: string): UiFile | undefined {
  const { type, sha256, media_type: mediaType, name } = (part ?? {}) as Record<string, unknown>;
  if ((type !== 'image' && type !== 'file') || typeof mediaType !== 'string') return undefined;
  if (typeof sha256 !== 'string' || !SHA256.test(sha256)) return undefined;
  const filename = typeof name === 'string' && name !== '' ? { filename: name } : {};
  return { type: 'file', mediaType, ...filename, url: `${partsUrl}/${sha256}` };
}

/** The output of a tool. A list of text, image and file parts gets the form of AI SDK. Other outputs stay as they are. */
export function shownOutput(output: unknown, partsUrl: string): unknown {
  if (!Array.isArray(output)) return output;
  const files = output.map((part) => storedFile(part, partsUrl));
  const isContent = output.every((part, index) => files[index] || part?.type === 'text');
  return isContent && files.some((file) => file) ? output.map((part, index) => files[index] ?? part) : output;
}

/** Pages of other origins need the host of the service. */
export function partsUrlOf(sessionId: string, host: string | undefined): string {
  const path = routeUrl(`/sessions/${sessionId}/parts`);
  return host === undefined ? path : `//${host}${path}`;
}

/** Returns the digest of the part that a URL names; undefined for any URL but one of a part of this session. */
export function partOfUrl(url: string, sessionId: string): string | undefined {
  const path = url.replace(/^(https?:)?\/\/[^/?#]+/i, '');
  const folder = `${partsUrlOf(sessionId, undefined)}/`;
  const sha256 = path.slice(folder.length);
  return path.startsWith(folder) && SHA256.test(sha256) ? sha256 : undefined;
}
