import type { FileEntry } from '../gen/index.ts';
import { API_BASE } from './client.ts';
import { fileRoute, type WorkspaceRef } from './files.ts';
import { sendRequest } from './send-request.ts';

/** A file to upload. Its name may contain directories. */
export interface FileToUpload {
  name: string;
  file: File;
}

/** Names that a multipart form does not transfer unchanged: the server decodes these escapes. */
const UNSAFE_IN_FORM = /\\|%(?:22|0a|0d)/i;

/** Whether a file with this name can be sent in a multipart form together with others. */
export const isSafeInForm = (name: string): boolean => !UNSAFE_IN_FORM.test(name);

/**
 * Uploads files into a directory: all of them or, on an error, none. Existing files are replaced. `onProgress` receives the
 * fraction that has been sent, from 0 to 1. Rejects with an ApiError or an AbortError.
 */
export async function uploadFiles(
  workspace: WorkspaceRef,
  directory: string,
  files: readonly FileToUpload[],
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<FileEntry[]> {
  const [only] = files;
  if (files.length === 1 && only && !isSafeInForm(only.name)) {
    const path = directory ? `${directory}/${only.name}` : only.name;
    const url = API_BASE + fileRoute(workspace, '/content', path);
    const request = { method: 'PUT', url, body: only.file } as const;
    const { data } = await sendRequest<{ entry: FileEntry }>(request, onProgress, signal);
    return [data.entry];
  }
  const form = new FormData();
  form.append('path', directory);
  for (const { name, file } of files) form.append('files', file, name);
  const request = { method: 'POST', url: API_BASE + fileRoute(workspace), body: form } as const;
  const { data } = await sendRequest<{ entries: FileEntry[] }>(request, onProgress, signal);
  return data.entries;
}
