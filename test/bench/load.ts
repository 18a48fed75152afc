/**
 * Sends one prepared request over a number of kept connections, each waiting for its whole answer before the
 * next. Runs as a process of its own and speaks raw HTTP into buffers that it reuses, as whatever the senders
 * cost is missing from what is measured.
 */
import { connect } from 'node:net';

export interface LoadJob {
  port: number;
  connections: number;
  warmUpMs: number;
  durationMs: number;
  /** A whole HTTP request. */
  request: string;
}

export interface LoadFigures {
  /** Answers with status 200, those of the warm-up and the last ones included. */
  accepted: number;
  /** Within the measured time. */
  answers: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the senders themselves, in the same time. */
  cpuMs: number;
}

export type LoadMessage =
  | { kind: 'warm' }
  | { kind: 'done'; figures: LoadFigures }
  | { kind: 'failed'; reason: string };

const ANSWER_BYTES = 64 * 1_024;
const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('content-length: ');
const OK = Buffer.from('HTTP/1.1 200 ');

process.once('message', async (job: LoadJob) => {
  const tell = (message: LoadMessage) => process.send?.(message);
  let warmedUp = process.cpuUsage();
  const warm = setTimeout(() => {
    warmedUp = process.cpuUsage();
    tell({ kind: 'warm' });
  }, job.warmUpMs);
  try {
    const figures = await load(job);
    const { user, system } = process.cpuUsage(warmedUp);
    tell({ kind: 'done', figures: { ...figures, cpuMs: (user + system) / 1_000 } });
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
  clearTimeout(warm);
  process.disconnect();
});
process.once('disconnect', () => process.exit());

async function load(job: LoadJob): Promise<Omit<LoadFigures, 'cpuMs'>> {
  const request = Buffer.from(job.request);
  const from = performance.now() + job.warmUpMs;
  const until = from + job.durationMs;
  const latencies: number[] = [];
  let accepted = 0;

  await Promise.all(
    Array.from({ length: job.connections }, () => {
      return new Promise<void>((resolve, reject) => {
        const answer = Buffer.allocUnsafe(ANSWER_BYTES);
        let filled = 0;
        let sentAt = 0;
        let done = false;
        const socket = connect({
          port: job.port,
          host: '127.0.0.1',
          noDelay: true,
          onread: {
            buffer: Buffer.allocUnsafe(ANSWER_BYTES),
            callback(bytes, chunk) {
              answer.set(chunk.subarray(0, bytes), filled);
              filled += bytes;
              if (isWhole(answer, filled)) next();
              return true;
            },
          },
        });
        const send = () => {
          sentAt = performance.now();
          if (sentAt >= until) {
            done = true;
            socket.end();
            resolve();
          } else socket.write(request);
        };
        const next = () => {
          const now = performance.now();
          if (answer.compare(OK, 0, OK.length, 0, OK.length) !== 0) {
            socket.destroy(new Error(`an answer was not 200: ${answer.toString('utf8', 0, filled)}`));
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

/** Whether the first bytes of the buffer are an answer with all of its body. */
function isWhole(answer: Buffer, filled: number): boolean {
  const head = answer.indexOf(HEAD_END);
  if (head < 0 || head + HEAD_END.length > filled) return false;
  const at = answer.indexOf(LENGTH);
  if (at < 0 || at > head) throw new Error(`an answer without length: ${answer.toString('utf8', 0, head)}`);
  let length = 0;
  for (let index = at + LENGTH.length; ; index++) {
    const digit = (answer[index] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    length = length * 10 + digit;
  }
  return filled >= head + HEAD_END.length + length;
}
