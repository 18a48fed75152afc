/**
 * Loaded into every measured process with `--import`. Reports resource usage and CPU profiles on request.
 */
import type { Profiler, Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Usage {
  cpuMs: number;
  /** The part of `cpuMs` outside the kernel. */
  userMs: number;
  /** Current resident memory in bytes. */
  rss: number;
  peak: number;
}

/** Bytes after garbage collection. */
export interface Footprint {
  /** Objects in V8's heap. */
  heap: number;
  /**
   * Resident memory of the process with the free memory that V8 keeps for further work: its young generation, pages in
   * reserve, and gaps between old objects. It follows the rate of work and does not shrink in an idle process.
   */
  resident: number;
  /** Resident memory after V8 has closed the gaps and returned its free pages, as it does when memory is short. */
  lasting: number;
}

export type ProbeRequest = 'usage' | 'footprint' | 'start profile' | 'end profile';
export type Profile = Profiler.Profile;

const SAMPLE_US = 1_000;
const COLLECTIONS = 3;
let session: Session | undefined;

const answers: Record<ProbeRequest, () => unknown> = {
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
    const collect: (options: object) => void = runInNewContext('gc');
    const afterCollections = async (options: object) => {
      // Objects released by finalizers in one round are collected in the next.
      for (let round = 0; round < COLLECTIONS; round++) {
        collect(options);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return process.memoryUsage();
    };
    const { rss: resident } = await afterCollections({ type: 'major' });
    const { rss: lasting, heapUsed: heap } = await afterCollections({
      type: 'major',
      flavor: 'last-resort',
    });
    return { heap, resident, lasting };
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

process.on('message', async (question: ProbeRequest) => {
  process.send?.({ answer: await answers[question]() });
});
// Exit with the benchmark, which would otherwise end this process.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();
