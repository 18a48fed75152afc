import { until } from '../../support/wait.ts';
import { seeded } from '../random.ts';
import { RUNTIMES } from './agents.ts';
import { POINTS } from './points.ts';
import { openStage } from './stage.ts';
import { judge, type Verdict } from './verdict.ts';

export interface ToolCrashFigures extends Verdict {
  crashes: number;
  seed: number;
  /** How often a runner died where. */
  points: Record<string, number>;
  /** Decisions that were made, by what they say. */
  decisions: Record<string, number>;
  /** From the last crash until nothing was left to do. */
  secondsToDrain: number;
}

const RUNNERS = 3;
/** Sessions that are under way at any time: more than the dying runners can hold. */
const SESSIONS = 24;
const LEASE_SECONDS = 0.6;
/** A runner that does not come to its point within this time dies where it is. */
const PATIENCE_MS = 4_000;

/**
 * Kills runners with -9 at the edges of tool calls, again and again, while people decide at random what they are
 * asked; then lets everything come to its end and compares what the tools have counted with the journals.
 */
export async function toolCrashes(
  databaseUrl: string,
  crashes: number,
  seed: number,
): Promise<ToolCrashFigures> {
  await using stage = await openStage(databaseUrl, LEASE_SECONDS);
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const points: Record<string, number> = {};
  const decisions: Record<string, number> = {};
  let dead = 0;
  let made = 0;
  let over = false;

  async function dyingRunners(): Promise<void> {
    while (dead < crashes) {
      const point = pick(POINTS);
      const { child, exited, complaints } = stage.run({ point, times: 1 + Math.floor(random() * 3) });
      let where: string = point;
      const timer = setTimeout(() => {
        where = 'elsewhere';
        child.kill('SIGKILL');
      }, PATIENCE_MS);
      const [code, signal] = await exited;
      clearTimeout(timer);
      if (signal !== 'SIGKILL') throw new Error(`a runner ended by itself with ${code}: ${complaints()}`);
      points[where] = (points[where] ?? 0) + 1;
      dead++;
    }
  }

  function choose({ kind }: { kind: string }): string {
    const decision =
      kind === 'tool' ? pick(['allow', 'allow', 'deny']) : pick(['retry', 'mark_done', 'mark_failed']);
    decisions[decision] = (decisions[decision] ?? 0) + 1;
    return decision;
  }

  async function users(): Promise<void> {
    while (!over) {
      await stage.decideAll(choose);
      const free = dead < crashes ? SESSIONS - (await stage.unfinished()) : 0;
      for (let i = 0; i < free; i++) {
        await stage.begin(made % RUNTIMES.length, `session-${made}`);
        made++;
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  const people = users();
  // Heard here and awaited below: whoever fails first is who is reported.
  people.catch(() => {});
  await Promise.all(Array.from({ length: RUNNERS }, dyingRunners));
  const since = performance.now();
  const last = stage.run({});
  try {
    await until('everything has come to its end', async () => (await stage.unfinished()) === 0, 60_000);
  } finally {
    over = true;
    last.child.kill('SIGKILL');
    await last.exited;
  }
  await people;
  const secondsToDrain = Math.round((performance.now() - since) / 100) / 10;
  const verdict = await judge(databaseUrl, stage.counter.calls);
  return { crashes: dead, seed, points, decisions, secondsToDrain, ...verdict };
}
