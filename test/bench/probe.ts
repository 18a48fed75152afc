/**
 * Loaded into every process that is measured (`--import`). Tells what the process has used and where its time
 * goes; does nothing until it is asked.
 */
import type { Profiler, Session } from 'node:inspector/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Usage {
  cpuMs: number;
  /** Of it, what was not spent in the system. */
  userMs: number;
  /** Bytes of memory, now and at most so far. */
  rss: number;
  peak: number;
}

/** Bytes after everything that nobody holds has been thrown away. */
export interface Footprint {
  /** Of objects in the heap of V8. */
  heap: number;
  /** Of the whole process: also what Node and libuv hold, and what is free and not given back. */
  resident: number;
  /** Without V8's young generation, which grows with the pace at which work comes and then stays as large as it is. */
  lasting: number;
}

export type Question = 'usage' | 'footprint' | 'start profile' | 'end profile';
export type Profile = Profiler.Profile;

const SAMPLE_US = 1_000;
const COLLECTIONS = 3;
let session: Session | undefined;

const answers: Record<Question, () => unknown> = {
  usage(): Usage {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    return {
      cpuMs: (userCPUTime + systemCPUTime) / 1_000,
      userMs: userCPUTime / 1_000,
      rss: process.memoryUsage.rss(),
      peak: maxRSS * 1_024,
    };
  },
  async footprint(): Promise<Footprint> {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    // What finalizers let go of in one round, the next one collects.
    for (let round = 0; round < COLLECTIONS; round++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { heapUsed, rss } = process.memoryUsage();
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    return { heap: heapUsed, resident: rss, lasting: rss - (young?.physical_space_size ?? 0) };
  },
  async 'start profile'() {
    const inspector = await import('node:inspector/promises');
    session = new inspector.Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
    await session.post('Profiler.start');
  },
  async 'end profile'(): Promise<Profile | undefined> {
    const ended = await session?.post('Profiler.stop');
    session?.disconnect();
    return ended?.profile;
  },
};

process.on('message', async (question: Question) => {
  process.send?.({ answer: await answers[question]() });
});
// Without the bench there is nobody left who would end it.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();
