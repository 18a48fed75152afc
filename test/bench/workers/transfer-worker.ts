/** Worker process: uploads or downloads files, several at a time. */
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { runWorker } from './worker.ts';

export interface TransferJob {
  port: number;
  direction: 'up' | 'down';
  /** The path to which the query with the file's path is appended. */
  target: string;
  /** The number of the first file, which makes the files of each job distinct. */
  first: number;
  files: number;
  bytesEach: number;
  atOnce: number;
}

export interface TransferFigures {
  ms: number;
  /** CPU time of this worker. */
  cpuMs: number;
}

const PIECE = randomFillSync(Buffer.alloc(1024 * 1024));

runWorker(async (job: TransferJob, ready): Promise<TransferFigures> => {
  const agent = new Agent({ keepAlive: true, maxSockets: job.atOnce });
  let next = job.first;
  ready();
  const cpu = process.cpuUsage();
  const begunAt = performance.now();
  await Promise.all(
    Array.from({ length: job.atOnce }, async () => {
      for (let number = next++; number < job.first + job.files; number = next++)
        await (job.direction === 'up' ? upload : download)(job, number, agent);
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  agent.destroy();
  return { ms: performance.now() - begunAt, cpuMs: (user + system) / 1_000 };
});

const pathOf = ({ target }: TransferJob, number: number) => `${target}?path=file-${number}.bin`;

async function upload(job: TransferJob, number: number, agent: Agent): Promise<void> {
  const { port, bytesEach } = job;
  const headers = { 'content-length': bytesEach, 'content-type': 'application/octet-stream' };
  const sent = request({
    port,
    host: '127.0.0.1',
    method: 'PUT',
    path: pathOf(job, number),
    agent,
    headers,
  });
  const answer = answerOf(sent);
  // All files differ.
  const begin = Buffer.alloc(16);
  begin.writeBigUInt64BE(BigInt(number));
  sent.write(begin);
  for (let left = bytesEach - begin.length; left > 0; left -= PIECE.length) {
    const piece = left < PIECE.length ? PIECE.subarray(0, left) : PIECE;
    if (!sent.write(piece)) await Promise.race([once(sent, 'drain'), answer]);
  }
  sent.end();
  await expectStatus(await answer, 201);
}

async function download(job: TransferJob, number: number, agent: Agent): Promise<void> {
  const sent = request({ port: job.port, host: '127.0.0.1', path: pathOf(job, number), agent });
  const answer = answerOf(sent);
  sent.end();
  const bytes = await expectStatus(await answer, 200);
  if (bytes !== job.bytesEach) throw new Error(`received ${bytes} of ${job.bytesEach} bytes`);
}

async function answerOf(sent: ClientRequest): Promise<IncomingMessage> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

/** Reads the length of the response. */
function expectStatus(answer: IncomingMessage, status: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    answer.on('end', () => {
      if (answer.statusCode === status) resolve(bytes);
      else reject(new Error(`a file was answered with ${answer.statusCode}`));
    });
    answer.on('error', reject);
  });
}
