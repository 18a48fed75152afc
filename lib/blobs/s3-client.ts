import type { Agent } from 'node:http';
import * as https from 'node:https';
import { Client } from 'minio';
import { refuse } from '../errors.ts';
import { http } from '../http.ts';
import { withDeadline } from './deadline.ts';
import { asRefusal, codeOf } from './failure.ts';
import { createTransport, type Deadlines, S3ResponseError, withRequestSignal } from './s3-transport.ts';

export interface S3ClientOptions {
  /** http:// or https://, with a port unless it is the default port. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKey: string;
  secretKey: string;
  deadlines: Deadlines;
}

/** Sends requests to one bucket. */
export interface S3Client {
  /** Runs one request of the library within the deadline for a request. The rejection is that of the library. */
  request<Result>(work: (client: Client) => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Runs `work` after the bucket is prepared. Maps failures to Refusals. */
  withBucket<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Creates the bucket when it does not exist. The rejection is that of the library. */
  prepareBucket(signal?: AbortSignal): Promise<void>;
  close(): void;
}

export function openS3Client({ bucket, region, deadlines, ...options }: S3ClientOptions): S3Client {
  const url = new URL(options.endpoint);
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  const client = new Client({
    endPoint: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    useSSL: isSecure,
    region,
    accessKey: options.accessKey,
    secretKey: options.secretKey,
    transport: createTransport(isSecure, deadlines),
    transportAgent: agent,
    // The client logs its retries on the console. The callers of Blobs decide on retries.
    retryOptions: { disableRetry: true },
  });
  let isBucketReady = false;

  async function request<Result>(
    work: (client: Client) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    try {
      return await withDeadline(deadlines.requestMs, signal, (own) =>
        withRequestSignal(own, () => work(client)),
      );
    } catch (error) {
      // Unused connections of a store that has disappeared would fail one after another.
      if (!(error instanceof S3ResponseError)) closeUnusedConnections(agent);
      throw error;
    }
  }

  async function prepareBucket(signal?: AbortSignal): Promise<void> {
    if (isBucketReady) return;
    const exists = () => request(() => client.bucketExists(bucket), signal);
    if (!(await exists())) {
      await request(() => client.makeBucket(bucket, region), signal).catch(async (error: unknown) => {
        // Another process of the service created it at the same time. Stores refuse this with different codes.
        if (!(await exists())) throw error;
      });
    }
    isBucketReady = true;
  }

  return {
    request,
    prepareBucket,
    async withBucket(work, signal) {
      try {
        if (signal?.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
        await prepareBucket(signal);
        return await work();
      } catch (error) {
        if (codeOf(error) === 'NoSuchBucket') isBucketReady = false;
        throw asRefusal(error, signal);
      }
    },
    close: () => agent.destroy(),
  };
}

function closeUnusedConnections(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}
