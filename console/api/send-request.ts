import type { ErrorEnvelope } from '../gen/index.ts';
import { ApiError } from './client.ts';

interface UploadRequest {
  method: 'POST' | 'PUT';
  url: string;
  /** The content type of a file is `application/octet-stream`, because the URL names the media type. */
  body: File | FormData;
}

/**
 * Sends a request and returns the `data` of its response. `onProgress` receives the fraction that has been sent, from 0 to
 * 1. Rejects with an ApiError or an AbortError.
 *
 * It uses XMLHttpRequest because fetch does not report upload progress.
 */
export function sendRequest<Data>(
  { method, url, body }: UploadRequest,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<Data> {
  const { promise, resolve, reject } = Promise.withResolvers<Data>();
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  signal.addEventListener('abort', abort, { once: true });
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total ? loaded / total : 0));
  request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
  request.addEventListener('error', () => reject(new ApiError(0, undefined)));
  request.addEventListener('load', () => {
    const response = parse(request.responseText);
    if (request.status < 300 && response && 'data' in response) resolve(response.data as Data);
    else reject(new ApiError(request.status, response as Partial<ErrorEnvelope> | undefined));
  });
  request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
  request.open(method, url);
  if (body instanceof File) request.setRequestHeader('Content-Type', 'application/octet-stream');
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
