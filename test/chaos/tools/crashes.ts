import { until } from '../../support/wait.ts';
import { seeded } from '../random.ts';
import { RUNTIMES } from './agents.ts';
import { CRASH_POINTS } from './crash-points.ts';
import { openToolCrashSystem } from './system.ts';
import { checkToolRuns, type ToolRunVerdict } from './verdict.ts';

interface ToolCrashFigures extends ToolRunVerdict {
  crashes: number;
  seed: number;
  /** Number of crashes by crash point; `timeout` for runners that did not reach theirs, which are no crashes. */
  points: Record<string, number>;
  /** Number of decisions by kind. */
  decisions: Record<string, number>;
  /** Seconds from the last crash until all turns have ended. */
  secondsToDrain: number;
}

const RUNNERS = 3;
/** Concurrent sessions, more than the crashing runners can claim. */
const SESSIONS = 24;
const LEASE_SECONDS = 0.6;
/** The decisions about approvals, by kind. */
const CHOICES: Record<string, string[]> = {
  tool: ['allow', 'allow', 'deny'],
  outcome_unknown: ['retry', 'mark_done', 'mark_failed'],
  authorization: ['retry', 'retry', 'deny'],
  input: ['accept', 'accept', 'decline', 'cancel'],
};
/** A runner that does not reach its crash point within this time is killed. */
const MAX_RUNNER_MS = 6_000;

/**
 * Repeatedly kills runners with SIGKILL at crash points while approvals are decided at random. Then lets all turns end and
 * compares the counted tool runs with the journals.
 */
export async function toolCrashes(
  databaseUrl: string,
  crashes: number,
  seed: number,
): Promise<ToolCrashFigures> {
  await using system = await openToolCrashSystem(databaseUrl, LEASE_SECONDS);
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const points: Record<string, number> = {};
  const decisions: Record<string, number> = {};
  let crashed = 0;
  let created = 0;
  let over = false;

  async function crashingRunners(): Promise<void> {
    while (crashed < crashes) {
      const point = pick(CRASH_POINTS);
      const { child, exited, errorOutput } = system.startRunner({
        point,
        times: 1 + Math.floor(random() * 3),
      });
      let where: string = point;
      const timer = setTimeout(() => {
        where = 'timeout';
        child.kill('SIGKILL');
      }, MAX_RUNNER_MS);
      const [code, signal] = await exited;
      clearTimeout(timer);
      if (signal !== 'SIGKILL') throw new Error(`a runner exited by itself with ${code}: ${errorOutput()}`);
      points[where] = (points[where] ?? 0) + 1;
      // On a busy machine many runners do not get that far.
      if (where !== 'timeout') crashed++;
    }
  }

  function choose({ kind }: { kind: string }): string {
    const decision = pick(CHOICES[kind] ?? []);
    decisions[decision] = (decisions[decision] ?? 0) + 1;
    return decision;
  }

  async function users(): Promise<void> {
    while (!over) {
      await system.decideAll(choose);
      const free = crashed < crashes ? SESSIONS - (await system.unfinished()) : 0;
      for (let i = 0; i < free; i++) {
        await system.createSession(created % RUNTIMES.length, `session-${created}`);
        created++;
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  const deciding = users();
  // Awaited below. This handler prevents an unhandled rejection while the crashes continue.
  deciding.catch(() => {});
  await Promise.all(Array.from({ length: RUNNERS }, crashingRunners));
  const since = performance.now();
  const last = system.startRunner({});
  try {
    await until('all turns have ended', async () => (await system.unfinished()) === 0, 60_000);
  } finally {
    over = true;
    last.child.kill('SIGKILL');
    await last.exited;
  }
  await deciding;
  const secondsToDrain = Math.round((performance.now() - since) / 100) / 10;
  const verdict = await checkToolRuns(databaseUrl, system.counter.calls);
  return { crashes: crashed, seed, points, decisions, secondsToDrain, ...verdict };
}
