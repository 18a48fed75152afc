import type { ErrorEnvelope, FileEntry } from '../gen/index.ts';
import { API_BASE, ApiError } from './client.ts';
import { fileRoute, type WorkspaceRef } from './files.ts';

/** A file to upload. Its name may contain directories. */
export interface FileToUpload {
  name: string;
  file: File;
}

/** A form has entries, and the bytes of one file have one entry. */
interface UploadResponse {
  data: { entries: FileEntry[] } | { entry: FileEntry };
}

/** Names that a multipart form does not transfer unchanged: the server decodes these escapes. */
const UNSAFE_IN_FORM = /\\|%(?:22|0a|0d)/i;

/** Whether a file with this name can be sent in a multipart form together with others. */
export const isSafeInForm = (name: string): boolean => !UNSAFE_IN_FORM.test(name);

/**
 * Uploads files into a directory: all of them or, on an error, none. Existing files are replaced. `onProgress` receives the
 * fraction that has been sent, from 0 to 1. Rejects with an ApiError or an AbortError.
 *
 * It uses XMLHttpRequest because fetch does not report upload progress.
 */
export function uploadFiles(
  workspace: WorkspaceRef,
  directory: string,
  files: readonly FileToUpload[],
  onProgress: (fraction: number) => void,
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
    const body = parse(request.responseText);
    if (request.status === 201 && body && 'data' in body) resolve(entriesOf(body as UploadResponse));
    else reject(new ApiError(request.status, body as Partial<ErrorEnvelope> | undefined));
  });
  request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
  const [only] = files;
  if (files.length === 1 && only && !isSafeInForm(only.name)) {
    const path = directory ? `${directory}/${only.name}` : only.name;
    request.open('PUT', API_BASE + fileRoute(workspace, '/content', path));
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.send(only.file);
    return promise;
  }
  const form = new FormData();
  form.append('path', directory);
  for (const { name, file } of files) form.append('files', file, name);
  request.open('POST', API_BASE + fileRoute(workspace));
  request.send(form);
  return promise;
}

function entriesOf({ data }: UploadResponse): FileEntry[] {
  return 'entry' in data ? [data.entry] : data.entries;
}

function parse(text: string): object | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    // A proxy between the browser and the service may send a body that is not JSON.
    return undefined;
  }
}
