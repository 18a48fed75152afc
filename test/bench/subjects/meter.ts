import type { Bench } from '../bench.ts';
import { heaviest } from './profile.ts';
import type { Subject } from './subject.ts';

/** Measures CPU, memory and optionally a CPU profile of the system under test between two points in time. */
interface Meter {
  begin(): Promise<void>;
  /** Returns a description per item of `count`. */
  end(count: number, what: string): Promise<string>;
}

export function createMeter({ postgres, profiling }: Bench, subject: Subject): Meter {
  let before: Awaited<ReturnType<Subject['usage']>> = [];
  let postgresBefore = Number.NaN;
  return {
    async begin() {
      if (profiling) await subject.startProfile();
      before = await subject.usage();
      postgresBefore = postgres.cpuMs();
    },
    async end(count, what) {
      const share = (cpuMs: number) =>
        Number.isNaN(cpuMs) ? 'unknown on this system' : `${((cpuMs / count) * 1_000).toFixed(0)} µs`;
      const postgresShare = share(postgres.cpuMs() - postgresBefore);
      const after = await subject.usage();
      const cpu = after.map(
        ({ name, usage }, index) => `${name} ${share(usage.cpuMs - (before[index]?.usage.cpuMs ?? 0))}`,
      );
      const memory = after.map(({ name, usage }) => `${name} ${inMb(usage.rss)} (${inMb(usage.peak)})`);
      return [
        `CPU per ${what}: ${[...cpu, `PostgreSQL ${postgresShare}`].join(', ')}`,
        `memory in MB (at most): ${memory.join(', ')}`,
        ...(profiling ? ['the heaviest entries of the profile, by their own time:'] : []),
        ...(profiling ? heaviest(await subject.endProfile()) : []),
      ].join('\n');
    },
  };
}

const inMb = (bytes: number) => (bytes / 1e6).toFixed(0);
