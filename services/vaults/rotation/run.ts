import type { Clock } from '../../../lib/clock.ts';
import { outcomeOf, type RunningRotation } from '../domain/rotation.ts';
import type { VaultKeys, WrappedKey } from '../keys/vault-keys.ts';
import type { RotationStepStore } from '../store/rotation-steps.ts';

export interface RotationContext {
  steps: RotationStepStore;
  keys: Pick<VaultKeys, 'rewrap' | 'createNext' | 'open' | 'seal' | 'check'>;
  clock: Clock;
}

/**
 * Runs a claimed rotation from its cursor to its end, or until the signal aborts. Rejects with RotationLost when another
 * replica has taken it, and with another error when the database or a key-encryption key is unavailable; it can then be
 * continued later.
 */
export function runRotation(
  rotation: RunningRotation,
  context: RotationContext,
  signal: AbortSignal,
): Promise<void> {
  return rotation.vaultId === ''
    ? rewrapAll(rotation, context, signal)
    : resealVault(rotation, context, signal);
}

/** Wraps the data keys of all vaults with the current key-encryption key. It opens no secret. */
async function rewrapAll(
  claimed: RunningRotation,
  { steps, keys, clock }: RotationContext,
  signal: AbortSignal,
): Promise<void> {
  let rotation = claimed;
  while (!signal.aborted) {
    const key = await steps.nextKey(rotation);
    if (!key) return steps.finish(rotation, outcomeOf, clock.now());
    const rewrapped = await orUndefined(keys.rewrap(key), keys);
    if (rewrapped) await steps.saveKey(rotation, key, rewrapped, clock.now());
    else await steps.skipKey(rotation, key, clock.now());
    rotation = { ...rotation, cursor: `${key.vaultId} ${key.generation}` };
  }
}

/** Seals the credentials of one vault with a new data key, one after the other. */
async function resealVault(
  claimed: RunningRotation,
  { steps, keys, clock }: RotationContext,
  signal: AbortSignal,
): Promise<void> {
  const newest = await steps.newestKey(claimed.vaultId);
  // The vault was deleted, or it has no credential yet.
  if (!newest) return steps.finish(claimed, outcomeOf, clock.now());
  let rotation = claimed;
  let next: WrappedKey = newest;
  if (rotation.toGeneration === undefined) {
    const created = await orUndefined(keys.createNext(newest), keys);
    if (!created) return steps.finish(rotation, outcomeOf, clock.now(), 1);
    await steps.addGeneration(rotation, created, clock.now());
    next = created;
  }
  const toGeneration = next.generation;
  while (!signal.aborted) {
    const credential = await steps.nextCredential(rotation, toGeneration);
    if (!credential) {
      if (await steps.endPass(rotation, toGeneration, outcomeOf, clock.now())) return;
      rotation = { ...rotation, cursor: '' };
      continue;
    }
    const { key, sealed: before } = credential;
    const sealed = await orUndefined(
      keys.open(key, credential, before).then((secrets) => keys.seal(next, credential, secrets)),
      keys,
    );
    if (sealed)
      await steps.saveCredential(rotation, credential, { sealed, keyGeneration: toGeneration }, clock.now());
    else await steps.skipCredential(rotation, credential, clock.now());
    rotation = { ...rotation, cursor: credential.credentialId };
  }
}

/**
 * Returns undefined when a data key or secret cannot be opened. Rejects when the key-encryption key is unavailable, because
 * the data key can then be opened later.
 */
async function orUndefined<Result>(
  work: Promise<Result>,
  keys: Pick<VaultKeys, 'check'>,
): Promise<Result | undefined> {
  try {
    return await work;
  } catch {
    await keys.check();
    return undefined;
  }
}
