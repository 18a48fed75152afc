import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { Database } from '../../../lib/db/database.ts';
import { openSchema } from '../../../lib/db/schema.ts';
import { createIds } from '../../../lib/ids.ts';
import type { Credential } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openVaultKeys } from '../../../services/vaults/keys/open.ts';
import type { VaultKeys } from '../../../services/vaults/keys/vault-keys.ts';
import { runRotation } from '../../../services/vaults/rotation/run.ts';
import {
  createRotationStepStore,
  RotationLost,
  type RotationStepStore,
} from '../../../services/vaults/store/rotation-steps.ts';
import { createRotationStore } from '../../../services/vaults/store/rotations.ts';
import { rowsOn } from '../../support/sql.ts';
import { administrator, openVaultsSystem, SEALING_KEY, type VaultsSystem } from './system.ts';

const NEVER = new AbortController().signal;

class Crash extends Error {}

type Moment = 'before' | 'after';

/** Ends the work of a replica at its nth step: before the step, or after its commit. */
function crashing(steps: RotationStepStore, nth: number, moment: Moment): RotationStepStore {
  let count = 0;
  const methods = Object.entries(steps).map(([name, method]) => {
    const step = async (...values: unknown[]) => {
      count += 1;
      if (count === nth && moment === 'before') throw new Crash(name);
      const result = await (method as (...given: unknown[]) => Promise<unknown>)(...values);
      if (count === nth) throw new Crash(name);
      return result;
    };
    return [name, step];
  });
  return Object.fromEntries(methods) as RotationStepStore;
}

describe('a rotation whose replica crashes', () => {
  let system: VaultsSystem;
  let db: Database;
  let keys: VaultKeys;
  let now = new Date();
  const ids = createIds(systemClock);
  const clock = { ...systemClock, now: () => now };

  beforeAll(async () => {
    system = await openVaultsSystem('in process');
    const migrations = new URL('../../../services/vaults/migrations', import.meta.url);
    db = await openSchema({ ...system.context, schema: 'vaults', migrations, pool: 2 });
    const sealingKeys = { read: async () => SEALING_KEY, create: async () => SEALING_KEY };
    const options = { sealingKeys, kmsSocket: undefined, kmsTimeoutSeconds: 5, storedKekIds: [], clock, ids };
    keys = await openVaultKeys(options);
  });
  afterAll(async () => {
    keys?.close();
    await db?.close();
    await system?.[Symbol.asyncDispose]();
  });

  const begin = async (vaultId: string) => {
    const rotationId = ids('rot');
    const start = { rotationId, vaultId, toKek: '', worker: 'replica 0', startedBy: '', now };
    const { isNew } = await createRotationStore(db).begin(start);
    expect(isNew).toBe(true);
    return rotationId;
  };

  /** Claims the running rotation, as a replica that starts when the earlier ones have been silent for 31 seconds. */
  const claimAs = async (steps: RotationStepStore) => {
    now = new Date(now.getTime() + 31_000);
    return steps.claim(now, new Date(now.getTime() - 30_000));
  };

  /** Runs a rotation in replicas of which the first ones crash at their nth step. Returns the number of replicas. */
  async function runWithCrashes(nth: number, moment: Moment, crashes: number): Promise<number> {
    for (let replica = 1; replica < 100; replica++) {
      const steps = createRotationStepStore(db, `replica ${replica}`);
      const rotation = await claimAs(steps);
      if (!rotation) return replica - 1;
      const context = { steps: replica > crashes ? steps : crashing(steps, nth, moment), keys, clock };
      await runRotation(rotation, context, NEVER).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
      });
    }
    throw new Error('the rotation makes no progress');
  }

  const rotationOf = async (rotationId: string) =>
    (await system.edge.getRotation({ rotationId }, administrator)).rotation;
  const generationsOf = (vaultId: string) =>
    rowsOn<{ generation: number }>(
      system.databaseUrl,
      `select generation from vaults.data_keys where vault_id = '${vaultId}' order by generation`,
    ).then((rows) => rows.map(({ generation }) => generation));
  const testAll = (credentials: Credential[]) => Promise.all(credentials.map((one) => system.test(one)));

  const MOMENTS: Moment[] = ['before', 'after'];
  /** The first replica crashes at each of its steps; or every replica crashes at a step that permits progress. */
  const POINTS: [number, Moment, number][] = [
    ...[1, 2, 3, 4, 5, 6, 7].flatMap((nth) =>
      MOMENTS.map((moment): [number, Moment, number] => [nth, moment, 1]),
    ),
    [3, 'after', 99],
    [4, 'before', 99],
    [4, 'after', 99],
    [5, 'before', 99],
  ];

  it.each(POINTS)(
    'seals every credential of a vault anew after a crash at step %i, %s its commit, of up to %i replicas',
    async (nth, moment, crashes) => {
      const { vaultId } = await system.createVault();
      const credentials: Credential[] = [];
      for (let index = 0; index < 3; index++) credentials.push(await system.createToken(vaultId));
      const rotationId = await begin(vaultId);
      expect(await runWithCrashes(nth, moment, crashes)).toBeGreaterThan(1);
      expect(await rotationOf(rotationId)).toMatchObject({ status: 'done', done: 3, total: 3 });
      expect(await generationsOf(vaultId)).toEqual([2]);
      expect(await testAll(credentials)).toEqual(['unknown', 'unknown', 'unknown']);
      const fingerprints = await Promise.all(
        credentials.map(async (one) => (await system.edge.getCredential(one, administrator)).credential),
      );
      expect(fingerprints).toEqual(credentials);
    },
  );

  it.each(POINTS)(
    'wraps every data key anew after a crash at step %i, %s its commit, of up to %i replicas',
    async (nth, moment, crashes) => {
      const made = await Promise.all(
        [1, 2, 3].map(async () => system.createToken((await system.createVault()).vaultId)),
      );
      const wrapped = () =>
        rowsOn<{ wrapped: Buffer }>(system.databaseUrl, 'select wrapped from vaults.data_keys').then((rows) =>
          rows.map((row) => row.wrapped.toString('hex')),
        );
      const before = await wrapped();
      const rotationId = await begin('');
      expect(await runWithCrashes(nth, moment, crashes)).toBeGreaterThan(1);
      const after = await wrapped();
      expect(await rotationOf(rotationId)).toMatchObject({
        status: 'done',
        done: before.length,
        total: before.length,
      });
      expect(after.filter((one) => before.includes(one))).toEqual([]);
      expect(await testAll(made)).toEqual(['unknown', 'unknown', 'unknown']);
    },
  );

  it('is left by a replica that was silent for too long and continues later', async () => {
    const { vaultId } = await system.createVault();
    const credential = await system.createToken(vaultId);
    const rotationId = await begin(vaultId);
    const slow = createRotationStepStore(db, 'slow replica');
    const claimed = await claimAs(slow);
    const fast = createRotationStepStore(db, 'fast replica');
    const taken = await claimAs(fast);
    await expect(runRotation(claimed!, { steps: slow, keys, clock }, NEVER)).rejects.toThrow(RotationLost);
    await runRotation(taken!, { steps: fast, keys, clock }, NEVER);
    expect(await rotationOf(rotationId)).toMatchObject({ status: 'done', done: 1, total: 1 });
    expect(await generationsOf(vaultId)).toEqual([2]);
    expect(await system.test(credential)).toBe('unknown');
  });

  it('is not taken while its replica works, and is taken at once when the replica has stopped', async () => {
    const { vaultId } = await system.createVault();
    await system.createToken(vaultId);
    await begin(vaultId);
    const first = createRotationStepStore(db, 'replica 0');
    const second = createRotationStepStore(db, 'replica 1');
    const staleBefore = new Date(now.getTime() - 30_000);
    expect(await second.claim(now, staleBefore)).toBeUndefined();
    await first.release();
    const rotation = await second.claim(now, staleBefore);
    await runRotation(rotation!, { steps: second, keys, clock }, NEVER);
  });
});
