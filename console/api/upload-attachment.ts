import { mediaTypeOf } from './attachments.ts';
import { API_BASE } from './client.ts';
import { sendRequest } from './send-request.ts';

/**
 * Uploads a file for a later message and returns its upload id. `onProgress` receives the fraction that has been sent, from
 * 0 to 1. Rejects with an ApiError or an AbortError.
 */
export async function uploadAttachment(
  file: File,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const query = new URLSearchParams({ media_type: mediaTypeOf(file), name: file.name });
  const { data } = await sendRequest<{ upload_id: string }>(
    { method: 'POST', url: `${API_BASE}/uploads?${query}`, body: file },
    onProgress,
    signal,
  );
  return data.upload_id;
}
