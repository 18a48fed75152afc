/**
 * Worker process: sends one prepared request repeatedly, or signed messages of a channel, over several keep-alive
 * connections, each waiting for its response, at once or at a given rate. It uses raw HTTP and reused buffers, because CPU of
 * the senders is not available to the system under test.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { isComplete } from '../clients/http-response.ts';
import { runWorker } from './worker.ts';

export interface LoadJob {
  port: number;
  connections: number;
  /** The rate of all connections together, evenly spaced. Undefined: each connection sends its next request at once. */
  requestsPerSecond?: number;
  warmUpMs: number;
  durationMs: number;
  /** The complete HTTP request. Empty with `messages`. */
  request: string;
  /** Each request is another message to the callback of a channel with the provider http. */
  messages?: { path: string; secret: string; bytes: number };
  /** The expected status of each response. */
  status: number;
}

export interface LoadFigures {
  /** All responses, including the warm-up and those after the end. */
  accepted: number;
  /** Responses within the measured time. */
  answers: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of this worker in the same time. */
  cpuMs: number;
}

const ANSWER_BYTES = 64 * 1_024;
const CONVERSATIONS = 100;

runWorker(async (job: LoadJob, ready): Promise<LoadFigures> => {
  let warmedUp = process.cpuUsage();
  const warm = setTimeout(() => {
    warmedUp = process.cpuUsage();
    ready();
  }, job.warmUpMs);
  const figures = await load(job).finally(() => clearTimeout(warm));
  const { user, system } = process.cpuUsage(warmedUp);
  return { ...figures, cpuMs: (user + system) / 1_000 };
});

async function load(job: LoadJob): Promise<Omit<LoadFigures, 'cpuMs'>> {
  const request = Buffer.from(job.request);
  const nextRequest = job.messages ? signedMessages(job.port, job.messages) : () => request;
  const expected = Buffer.from(`HTTP/1.1 ${job.status} `);
  const from = performance.now() + job.warmUpMs;
  const until = from + job.durationMs;
  const spacingMs = job.requestsPerSecond === undefined ? 0 : 1_000 / job.requestsPerSecond;
  const startedAt = performance.now();
  const latencies: number[] = [];
  let accepted = 0;

  await Promise.all(
    Array.from({ length: job.connections }, (_, index) => {
      return new Promise<void>((resolve, reject) => {
        const answer = Buffer.allocUnsafe(ANSWER_BYTES);
        let filled = 0;
        let sentAt = 0;
        let done = false;
        let dueAt = startedAt + index * spacingMs;
        const socket = connect({
          port: job.port,
          host: '127.0.0.1',
          noDelay: true,
          onread: {
            buffer: Buffer.allocUnsafe(ANSWER_BYTES),
            callback(bytes, chunk) {
              answer.set(chunk.subarray(0, bytes), filled);
              filled += bytes;
              if (isComplete(answer, filled)) next();
              return true;
            },
          },
        });
        const send = () => {
          if (spacingMs === 0) return write(performance.now());
          const at = dueAt;
          dueAt += job.connections * spacingMs;
          const earlyMs = at - performance.now();
          if (earlyMs > 0) setTimeout(() => write(performance.now()), earlyMs);
          // Its latency includes the time for which it had to wait for the response before it.
          else write(at);
        };
        const write = (at: number) => {
          sentAt = at;
          if (sentAt >= until) {
            done = true;
            socket.end();
            resolve();
          } else socket.write(nextRequest());
        };
        const next = () => {
          const now = performance.now();
          if (answer.compare(expected, 0, expected.length, 0, expected.length) !== 0) {
            socket.destroy(
              new Error(`an answer was not ${job.status}: ${answer.toString('utf8', 0, filled)}`),
            );
            return;
          }
          accepted++;
          if (sentAt >= from && now <= until) latencies.push(now - sentAt);
          filled = 0;
          send();
        };
        socket.on('connect', send);
        socket.on('error', reject);
        socket.on('close', () => done || reject(new Error('the other side closed a connection')));
      });
    }),
  );
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return {
    accepted,
    answers: latencies.length,
    perSecond: latencies.length / (job.durationMs / 1_000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

/** Signs as Standard Webhooks does. The senders of a conversation are few, and conversations are many. */
function signedMessages(port: number, { path, secret, bytes }: NonNullable<LoadJob['messages']>) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = 'x'.repeat(bytes);
  const run = randomUUID();
  let sent = 0;
  return (): Buffer => {
    const id = `${run}-${++sent}`;
    const body = JSON.stringify({
      type: 'message',
      conversation: `room-${sent % CONVERSATIONS}`,
      user: { id: 'u1', name: 'Ada' },
      message: { id, text },
    });
    const timestamp = Math.floor(Date.now() / 1_000);
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    return Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\nwebhook-id: ${id}\r\nwebhook-timestamp: ${timestamp}\r\n` +
        `webhook-signature: v1,${mac}\r\n\r\n${body}`,
    );
  };
}
