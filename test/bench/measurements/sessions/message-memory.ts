import { createApi, dataOfCreated } from '../../../support/api.ts';
import { until } from '../../../support/wait.ts';
import { type Bench, pause } from '../../bench.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSeparateProcesses } from '../../subjects/subjects.ts';

export interface MessageMemory {
  /** Bytes of the request body. */
  bytes: number;
  /** Largest growth of the edge's resident memory during the request, in bytes. */
  grown: number;
}

const MIB = 1024 * 1024;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const LOOK_MS = 5;

/** y: the memory growth of the edge during a message whose images fill its longest body. */
export async function measureMessageMemory({ postgres, print }: Bench): Promise<MessageMemory> {
  await using database = await postgres.createDatabase();
  await using subject = await startSeparateProcesses(database.url, { isComplete: true });
  const api = createApi(subject.origin);
  const agent = await api.createAgent();
  const conversation = await until('`sessions` has connected to `files`', async () => {
    const answer = await api.post(`/agents/${agent}/conversations`, { message: message(16 * 1024) });
    return answer.status === 503 ? undefined : answer;
  });
  const path = `/sessions/${dataOfCreated(conversation).session_id}`;
  await until('the turn has ended', async () => (await api.get(path)).body.data.status === 'idle');
  const request = JSON.stringify({ content: message(3.5 * MIB) });
  const before = await edgeMemory(subject);
  let isOver = false;
  const sent = fetch(`${subject.origin}/api/v1${path}/messages`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: request,
  }).finally(() => {
    isOver = true;
  });
  let most = before.rss;
  while (!isOver) {
    const { rss, peak } = await edgeMemory(subject);
    // A peak while the edge could not answer.
    most = Math.max(most, rss, peak > before.peak ? peak : 0);
    await pause(LOOK_MS);
  }
  const { status } = await sent;
  if (status !== 202) throw new Error(`the message was answered with status ${status}`);
  const { rss, peak } = await edgeMemory(subject);
  most = Math.max(most, rss, peak > before.peak ? peak : 0);
  const measured = { bytes: request.length, grown: most - before.rss };
  const mib = (value: number) => (value / MIB).toFixed(1);
  print('y', `a message of ${mib(measured.bytes)} MiB: the edge grew by ${mib(measured.grown)} MiB`);
  return measured;
}

function message(bytesEach: number): object[] {
  const image = { type: 'image', media_type: 'image/png' };
  return [1, 2].map((fill) => ({
    ...image,
    data: Buffer.concat([PNG, Buffer.alloc(bytesEach - PNG.length, fill)]).toString('base64'),
  }));
}

async function edgeMemory(subject: Subject): Promise<{ rss: number; peak: number }> {
  const edge = (await subject.usage()).find(({ name }) => name === 'edge');
  return edge?.usage ?? { rss: Number.NaN, peak: Number.NaN };
}
