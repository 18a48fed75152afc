import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../support/wait.ts';
import { isDrained, judge, type Verdict } from '../oracle.ts';
import { seeded, shuffled } from '../random.ts';
import { type Fault, faultsOf } from './faults.ts';
import { answerTo, startLoad } from './load.ts';
import { startParts, stateOf } from './parts.ts';
import { GIVE_UP_MS, RECOVERY_MS, recovered } from './recovery.ts';

export interface FaultFigures extends Verdict {
  seed: number;
  /** Number of faults. */
  faults: number;
  acknowledged: number;
  uploads: number;
  lostUploads: string[];
  /** Numbers of responses by `operation code`. */
  responses: Record<string, number>;
  /** Wrong responses, wrong readiness and slow recoveries. */
  violations: string[];
  /** The longest recovery after each fault, in milliseconds. */
  recoveryMs: Record<string, number>;
}

/** `/readyz` reports a fault within this time. */
const NOTICE_MS = 5_000;
const POLL_MS = 50;

/**
 * Removes and restores the parts of a system under load, one at a time and in random order, until `seconds` have passed
 * and every part has failed at least once. Each fault lasts between a half and one and a half times `faultMs`.
 */
export async function faultRounds(options: {
  seconds: number;
  faultMs: number;
  seed: number;
  print?: (line: string) => void;
}): Promise<FaultFigures> {
  const { seed, faultMs, print = () => {} } = options;
  await using parts = await startParts();
  const random = seeded(seed);
  const load = await startLoad(parts.api, random);
  const violations: string[] = [];
  const recoveryMs: Record<string, number> = {};
  const end = performance.now() + options.seconds * 1_000;
  let faults = 0;
  for (let round = 0; round === 0 || performance.now() < end; round++) {
    for (const fault of shuffled(faultsOf(parts), random)) {
      const { origin } = parts.api;
      await recovered(origin, load, performance.now());
      await fault.begin();
      const problems = await observe(origin, fault, faultMs * (0.5 + random()));
      const endedAt = performance.now();
      await fault.end();
      const ms = await recovered(origin, load, endedAt);
      if (ms > RECOVERY_MS) problems.push(`recovery took ${Math.round(ms)} ms`);
      recoveryMs[fault.name] = Math.max(recoveryMs[fault.name] ?? 0, Math.round(ms));
      violations.push(...problems.map((problem) => `${fault.name}: ${problem}`));
      print(`${++faults}. ${fault.name}: recovered after ${Math.round(ms)} ms ${problems.join('; ')}`);
      if (round > 0 && performance.now() > end) break;
    }
  }
  await load.stop();
  await until('all turns have ended', () => isDrained(parts.postgres.url), GIVE_UP_MS);
  const verdict = await judge(parts.postgres.url, load.acknowledged, answerTo);
  return {
    seed,
    faults,
    acknowledged: load.acknowledged.length,
    uploads: load.uploads.size,
    lostUploads: await load.lostUploads(),
    responses: load.responses,
    violations: [...violations, ...load.violations],
    recoveryMs,
    ...verdict,
  };
}

/** Watches `/readyz` during a fault. Returns what it reported wrongly. */
async function observe(origin: string, { state }: Fault, durationMs: number): Promise<string[]> {
  const startedAt = performance.now();
  let noticedMs: number | undefined;
  const wrong = new Set<string>();
  while (performance.now() - startedAt < Math.max(durationMs, (noticedMs ?? NOTICE_MS) + 500)) {
    const reported = await stateOf(origin);
    if (reported === state) noticedMs ??= performance.now() - startedAt;
    else if (noticedMs !== undefined) wrong.add(`/readyz reported ${reported ?? 'unready'}`);
    await pause(POLL_MS);
  }
  if (noticedMs === undefined) wrong.add(`/readyz did not report ${state ?? 'unready'}`);
  return [...wrong];
}
