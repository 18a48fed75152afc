import type { Bench } from '../../bench.ts';
import { hasRedis } from '../../subjects/subjects.ts';
import { type Callbacks, measureCallbacks } from './callbacks.ts';
import { type EditDelay, measureEditDelay } from './edit-delay.ts';
import { measureWorkerMemory, type WorkerMemory } from './worker-memory.ts';

export interface Channels {
  callbacks: Callbacks;
  edits: EditDelay;
  /** Undefined without Redis. */
  memory: WorkerMemory | undefined;
}

/** t': callbacks of channels, the delay of edits, and the memory of a channel worker. */
export async function measureChannels(bench: Bench): Promise<Channels> {
  const callbacks = await measureCallbacks(bench);
  const edits = await measureEditDelay(bench);
  if (hasRedis()) return { callbacks, edits, memory: await measureWorkerMemory(bench) };
  bench.print("t'", 'memory of a channel worker: needs redis-server: apt-get install redis-server');
  return { callbacks, edits, memory: undefined };
}
