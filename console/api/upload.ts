import type { ErrorEnvelope, FileEntry } from '../gen/index.ts';
import { API, ApiError } from './client.ts';
import { fileRoute, type Place } from './files.ts';

/** A file on its way. Its name may have directories in it. */
export interface Sending {
  name: string;
  file: File;
}

interface Uploaded {
  data: { entries: FileEntry[] };
}

/** What a form does not bring over as it was written: escapes are undone at the other end. */
const AMBIGUOUS = /\\|%(?:22|0a|0d)/i;

/** Whether it can be sent along with others. */
export const fitsForm = (name: string): boolean => !AMBIGUOUS.test(name);

/**
 * Puts files into a directory; all of them or, when it is refused, none. What is there is replaced. `onProgress` is told how
 * much of it has been sent, from 0 to 1. Fails with an ApiError, or an AbortError.
 *
 * It does not use fetch, which says nothing about what has been sent.
 */
export function sendFiles(
  place: Place,
  directory: string,
  files: readonly Sending[],
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<FileEntry[]> {
  const { promise, resolve, reject } = Promise.withResolvers<FileEntry[]>();
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  signal.addEventListener('abort', abort, { once: true });
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total ? loaded / total : 0));
  request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
  request.addEventListener('error', () => reject(new ApiError(0, undefined)));
  request.addEventListener('load', () => {
    const answer = parse(request.responseText);
    if (request.status === 201 && answer && 'data' in answer) resolve((answer as Uploaded).data.entries);
    else reject(new ApiError(request.status, answer as Partial<ErrorEnvelope> | undefined));
  });
  request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
  const [only] = files;
  if (files.length === 1 && only && !fitsForm(only.name)) {
    request.open('POST', API + fileRoute(place, '', directory ? `${directory}/${only.name}` : only.name));
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.send(only.file);
    return promise;
  }
  const form = new FormData();
  form.append('path', directory);
  for (const { name, file } of files) form.append('files', file, name);
  request.open('POST', API + fileRoute(place));
  request.send(form);
  return promise;
}

function parse(text: string): object | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? answer : undefined;
  } catch {
    // A proxy in between may answer with anything.
    return undefined;
  }
}
