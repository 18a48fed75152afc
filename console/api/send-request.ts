import type { ErrorEnvelope } from '../gen/index.ts';
import { ApiError } from './client.ts';

interface UploadRequest {
  method: 'POST' | 'PUT';
  url: string;
  body: File | FormData;
  /** By default the content type of a file is `application/octet-stream`, because the URL names the media type. */
  headers?: Readonly<Record<string, string>>;
}

interface UploadResponse<Data> {
  status: number;
  data: Data;
}

/**
 * Sends a request and returns the status and the `data` of its response. `onProgress` receives the fraction that has been
 * sent, from 0 to 1. Rejects with an ApiError or an AbortError.
 *
 * It uses XMLHttpRequest because fetch does not report upload progress.
 */
export function sendRequest<Data>(
  { method, url, body, headers = {} }: UploadRequest,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<UploadResponse<Data>> {
  const { promise, resolve, reject } = Promise.withResolvers<UploadResponse<Data>>();
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  signal.addEventListener('abort', abort, { once: true });
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total ? loaded / total : 0));
  request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
  request.addEventListener('error', () => reject(new ApiError(0, undefined)));
  request.addEventListener('load', () => {
    const response = parse(request.responseText);
    const { status } = request;
    if (status < 300 && response && 'data' in response) resolve({ status, data: response.data as Data });
    else reject(new ApiError(status, response as Partial<ErrorEnvelope> | undefined));
  });
  request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
  request.open(method, url);
  const type = body instanceof File ? { 'Content-Type': 'application/octet-stream' } : {};
  for (const [name, value] of Object.entries({ ...type, ...headers })) request.setRequestHeader(name, value);
  request.send(body);
  return promise;
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
