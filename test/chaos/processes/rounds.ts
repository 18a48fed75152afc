import { setTimeout as pause } from 'node:timers/promises';
import { countOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { answerTo, type Load, startLoad } from '../faults/load.ts';
import { GIVE_UP_MS, RECOVERY_MS, recovered } from '../faults/recovery.ts';
import { createRandomFollowers, type FollowerFigures } from '../followers.ts';
import { isDrained, judge, type Verdict } from '../oracle.ts';
import { seeded, shuffled } from '../random.ts';
import { repeatedEffects } from './effects.ts';
import { FAULT_KINDS, type FaultKind, type ProcessFault, processFaults } from './faults.ts';
import { type ProcessSystem, startProcessSystem } from './system.ts';

export interface ProcessFigures extends Verdict, FollowerFigures {
  seed: number;
  /** Number of faults by kind. */
  faults: Record<FaultKind, number>;
  acknowledged: number;
  uploads: number;
  lostUploads: string[];
  /** Messages and commands that took effect more than once. */
  repeated: string[];
  /** Numbers of responses by `operation code`. */
  responses: Record<string, number>;
  /** Wrong or unnamed responses, slow recoveries and processes that exited by themselves. */
  violations: string[];
  /** The longest recovery after each kind of fault, in milliseconds. */
  recoveryMs: Partial<Record<FaultKind, number>>;
}

/** Factor for the pauses of the load: the processes share one machine, and a fault is about order, not throughput. */
const SLOWDOWN = 4;
const FOLLOW_INTERVAL_MS = 300;

/**
 * Lets the processes of a system fail under load, one at a time and in random order, until `seconds` have passed. Each
 * fault lasts between a half and one and a half times `faultMs`.
 */
export async function processRounds(options: {
  seconds: number;
  faultMs: number;
  seed: number;
  print?: (line: string) => void;
}): Promise<ProcessFigures> {
  const { seed, faultMs, print = () => {} } = options;
  await using system = await startProcessSystem();
  const { api, databaseUrl } = system;
  const random = seeded(seed);
  let current: ProcessFault | undefined;
  const load = await startLoad(api, seeded(seed + 2), {
    slowdown: SLOWDOWN,
    isEdgeAway: () => current?.process === 'edge',
  });
  const followers = createRandomFollowers(api, seeded(seed + 1));
  let followed: string | undefined;
  const addingFollowers = setInterval(() => {
    // The first session is that of the uploads, which add events after its turn.
    const newest = load.acknowledged.slice(1).at(-1);
    if (newest === undefined || newest === followed) return;
    followers.add(newest);
    followed = newest;
  }, FOLLOW_INTERVAL_MS);
  const faults = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<FaultKind, number>;
  const violations: string[] = [];
  const recoveryMs: Partial<Record<FaultKind, number>> = {};

  /** Returns whether the system has recovered from the fault. */
  async function perform(fault: ProcessFault): Promise<boolean> {
    const name = `${fault.process} ${fault.kind}`;
    const known = load.violations.length;
    current = fault;
    await fault.begin();
    await pause(faultMs * (0.5 + random()));
    const recovery = await recoveryAfter(fault, system, load).catch((error: Error) => error);
    const ms = recovery instanceof Error ? GIVE_UP_MS : recovery;
    current = undefined;
    faults[fault.kind]++;
    recoveryMs[fault.kind] = Math.max(recoveryMs[fault.kind] ?? 0, Math.round(ms));
    const problems = load.violations.slice(known);
    if (recovery instanceof Error) problems.push(`no recovery: ${recovery.message}`);
    else if (ms > RECOVERY_MS) problems.push(`recovery took ${Math.round(ms)} ms`);
    violations.push(...problems.map((problem) => `${name}: ${problem}`));
    print([`${name}: recovered after ${Math.round(ms)} ms`, ...problems].join('\n    '));
    return !(recovery instanceof Error);
  }

  const endAt = performance.now() + options.seconds * 1_000;
  try {
    await recovered(api.origin, load, performance.now());
    let waiting: ProcessFault[] = [];
    do {
      if (waiting.length === 0) waiting = shuffled(processFaults(system), random);
      const fault = waiting.pop();
      if (!fault || !(await perform(fault))) break;
    } while (performance.now() < endAt);
    clearInterval(addingFollowers);
    await load.stop();
    await until('all turns have ended', () => isDrained(databaseUrl), GIVE_UP_MS);
    const received = await followers.verdict(databaseUrl);
    const verdict = await judge(databaseUrl, load.acknowledged, answerTo);
    return {
      seed,
      faults,
      acknowledged: load.acknowledged.length,
      uploads: load.uploads.size,
      lostUploads: await load.lostUploads(),
      repeated: await repeatedEffects(databaseUrl),
      responses: load.responses,
      violations: [...violations, ...system.unexpectedExits()],
      recoveryMs,
      ...received,
      ...verdict,
    };
  } finally {
    clearInterval(addingFollowers);
    followers.stop();
    await load.stop();
  }
}

/**
 * Ends a fault, and waits until every process is ready, every operation has succeeded since then, and every turn
 * accepted before then has ended or waits for its next attempt, whose delay grows with its failures. Returns the
 * milliseconds since then.
 */
async function recoveryAfter(
  fault: ProcessFault,
  { api, databaseUrl, allReady }: ProcessSystem,
  load: Load,
): Promise<number> {
  await fault.end();
  const since = performance.now();
  const accepted = `created_at < '${new Date().toISOString()}'`;
  const pending = `select count(*) from sessions.turns where finished_at is null and wake_at is null and ${accepted}`;
  const turnsEnded = async () => (await countOn(databaseUrl, pending)) === 0;
  await Promise.all([
    until('every process is ready', allReady, GIVE_UP_MS),
    recovered(api.origin, load, since),
    until('the turns have ended', turnsEnded, GIVE_UP_MS),
  ]);
  return performance.now() - since;
}
