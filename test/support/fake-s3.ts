import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The operations of S3 that the service uses. */
export type S3Operation =
  | 'HeadBucket'
  | 'CreateBucket'
  | 'PutObject'
  | 'GetObject'
  | 'HeadObject'
  | 'DeleteObject'
  | 'ListObjects'
  | 'CreateMultipartUpload'
  | 'UploadPart'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'ListMultipartUploads';

export interface Failure {
  status: number;
  /** Error code in the XML body. Without one, the response has no body. */
  code?: string;
  /**
   * `unfinished`: the body begins and never ends. `head`: the body never begins. `closed`: the connection is closed within
   * the body. `drip`: the body continues for ever, one byte at a time. `early`: the request is not read. `silent`: no
   * response at all. `lost`: the operation takes effect, and the connection is closed without a response.
   */
  manner?: 'complete' | 'unfinished' | 'head' | 'closed' | 'drip' | 'early' | 'silent' | 'lost';
}

const DRIP_MS = 20;
const NOW = `<LastModified>${new Date().toISOString()}</LastModified>`;
const INITIATED = `<Initiated>${new Date().toISOString()}</Initiated>`;

/**
 * An S3 server in memory that fails on demand. It holds objects and multipart uploads, checks no signatures, and
 * implements the operations of S3Operation as far as the service uses them.
 */
export class FakeS3 implements AsyncDisposable {
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  readonly #objects = new Map<string, Buffer>();
  readonly #parts = new Map<string, { key: string; parts: Map<number, Buffer> }>();
  #uploads = 0;
  /** Decides which operations fail; undefined: the operation succeeds. */
  failure: (operation: S3Operation, key: string) => Failure | undefined = () => undefined;
  /** All operations that were requested, in order. */
  readonly operations: S3Operation[] = [];
  connections = 0;

  async start(): Promise<this> {
    this.#server.on('connection', () => this.connections++);
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  /** The keys of all objects and of all multipart uploads that have not ended. */
  get contents(): string[] {
    return [...this.#objects.keys(), ...[...this.#parts.values()].map(({ key }) => key)];
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resets all connections, as a server does that restarts. */
  closeConnections(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closeConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://s3');
    const key = url.pathname.split('/').slice(2).join('/');
    const operation = operationOf(request.method ?? 'GET', key, url.searchParams);
    this.operations.push(operation);
    const failure = this.failure(operation, key);
    if (failure?.manner === 'silent') return;
    try {
      const body = failure?.manner === 'early' ? Buffer.alloc(0) : await readBody(request);
      if (failure && failure.manner !== 'lost') return void fail(response, failure);
      if (failure) response.end = () => response.destroy();
      this.#answer(operation, key, url.searchParams, body, request, response);
    } catch {
      // The client ended the connection.
    }
  }

  #answer(
    operation: S3Operation,
    key: string,
    query: URLSearchParams,
    body: Buffer,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const upload = query.get('uploadId') ?? '';
    const xml = (text: string) => response.setHeader('content-type', 'application/xml').end(text);
    switch (operation) {
      case 'PutObject':
        this.#objects.set(key, body);
        return void response.setHeader('etag', '"etag"').end();
      case 'GetObject': {
        const object = this.#objects.get(key);
        if (!object) return void fail(response, { status: 404, code: 'NoSuchKey' });
        const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
        const end = to === '' ? object.length : Number(to) + 1;
        response.statusCode = request.headers.range ? 206 : 200;
        return void response.end(object.subarray(Number(from), end));
      }
      case 'HeadObject': {
        const object = this.#objects.get(key);
        if (!object) return void fail(response, { status: 404 });
        return void response.setHeader('content-length', object.length).end();
      }
      case 'DeleteObject':
        this.#objects.delete(key);
        response.statusCode = 204;
        return void response.end();
      case 'ListObjects':
        return void xml(
          `<ListBucketResult><IsTruncated>false</IsTruncated>${[...this.#objects]
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .filter(([name]) => name > (query.get('start-after') ?? ''))
            .map(
              ([name, { length }]) => `<Contents><Key>${name}</Key><Size>${length}</Size>${NOW}</Contents>`,
            )
            .join('')}</ListBucketResult>`,
        );
      case 'CreateMultipartUpload': {
        const id = `upload-${++this.#uploads}`;
        this.#parts.set(id, { key, parts: new Map() });
        return void xml(
          `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        );
      }
      case 'UploadPart':
        this.#parts.get(upload)?.parts.set(Number(query.get('partNumber')), body);
        return void response.setHeader('etag', '"etag"').end();
      case 'CompleteMultipartUpload':
        this.#objects.set(key, Buffer.concat([...(this.#parts.get(upload)?.parts.values() ?? [])]));
        this.#parts.delete(upload);
        return void xml(
          '<CompleteMultipartUploadResult><Location>/</Location><ETag>"etag"</ETag></CompleteMultipartUploadResult>',
        );
      case 'AbortMultipartUpload':
        this.#parts.delete(upload);
        response.statusCode = 204;
        return void response.end();
      case 'ListMultipartUploads':
        return void xml(
          `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${[...this.#parts]
            .filter(([, { key }]) => key.startsWith(query.get('prefix') ?? ''))
            .map(
              ([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId>${INITIATED}</Upload>`,
            )
            .join('')}</ListMultipartUploadsResult>`,
        );
      default:
        return void response.end();
    }
  }
}

function operationOf(method: string, key: string, query: URLSearchParams): S3Operation {
  if (key === '') {
    if (method === 'HEAD') return 'HeadBucket';
    if (method === 'PUT') return 'CreateBucket';
    return query.has('uploads') ? 'ListMultipartUploads' : 'ListObjects';
  }
  const isUpload = query.has('uploadId');
  if (method === 'POST') return isUpload ? 'CompleteMultipartUpload' : 'CreateMultipartUpload';
  if (method === 'PUT') return isUpload ? 'UploadPart' : 'PutObject';
  if (method === 'DELETE') return isUpload ? 'AbortMultipartUpload' : 'DeleteObject';
  return method === 'HEAD' ? 'HeadObject' : 'GetObject';
}

function fail(response: ServerResponse, { status, code, manner }: Failure): void {
  response.statusCode = status;
  const isComplete = manner === undefined || manner === 'complete' || manner === 'early';
  if (code === undefined && isComplete) return void response.end();
  const body = `<?xml version="1.0"?><Error><Code>${code ?? ''}</Code><Message>failed</Message></Error>`;
  response.setHeader('content-type', 'application/xml');
  if (isComplete) return void response.end(body);
  if (manner === 'drip') return void drip(response);
  response.setHeader('content-length', body.length + 100);
  response.flushHeaders();
  if (manner === 'head') return;
  response.write(body, () => {
    if (manner === 'closed') response.destroy();
  });
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), DRIP_MS);
  response.once('close', () => clearInterval(timer));
  response.flushHeaders();
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync<Buffer>(request));
}
