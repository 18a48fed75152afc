/**
 * Sends prepared requests over a number of kept connections, each waiting for its answer before the next.
 * Runs as a process of its own and speaks raw HTTP, so that sending costs little beside what is measured.
 */
import { connect } from 'node:net';

export interface LoadJob {
  port: number;
  connections: number;
  warmUpMs: number;
  durationMs: number;
  /** Whole requests, sent in turn. */
  requests: string[];
}

export interface LoadFigures {
  answers: number;
  /** Answers with another status than 200. */
  failures: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

if (process.send) {
  process.once('message', async (job: LoadJob) => {
    process.send?.(await load(job));
    process.disconnect();
  });
}

async function load(job: LoadJob): Promise<LoadFigures> {
  const requests = job.requests.map((text) => Buffer.from(text));
  const from = performance.now() + job.warmUpMs;
  const until = from + job.durationMs;
  const latencies: number[] = [];
  let failures = 0;
  let next = 0;

  await Promise.all(
    Array.from({ length: job.connections }, () => {
      return new Promise<void>((resolve, reject) => {
        const socket = connect({ port: job.port, host: '127.0.0.1', noDelay: true });
        let sentAt = 0;
        let pending = '';
        const send = () => {
          sentAt = performance.now();
          if (sentAt >= until) {
            socket.end();
            return resolve();
          }
          socket.write(requests[next++ % requests.length] ?? '');
        };
        socket.on('connect', send);
        socket.on('error', reject);
        socket.on('data', (chunk) => {
          pending += chunk.toString('latin1');
          if (!isWhole(pending)) return;
          const now = performance.now();
          if (sentAt >= from && now <= until) {
            latencies.push(now - sentAt);
            if (!pending.startsWith('HTTP/1.1 200')) failures++;
          }
          pending = '';
          send();
        });
      });
    }),
  );
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    answers: latencies.length,
    failures,
    perSecond: latencies.length / (job.durationMs / 1_000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  return text.length >= head + 4 + Number(length ?? 0);
}
