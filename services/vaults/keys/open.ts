import type { Clock } from '../../../lib/clock.ts';
import type { Ids } from '../../../lib/ids.ts';
import { missingSealingKey, type SealingKeySource } from '../../../lib/sealing.ts';
import type { KeyEncryption } from './kek.ts';
import { createLocalKeyEncryption, sealingKeyIdOf } from './local-kek.ts';
import { KmsProblem } from './problem.ts';
import { VaultKeys } from './vault-keys.ts';

interface OpenVaultKeysOptions {
  sealingKeys: SealingKeySource;
  kmsSocket: string | undefined;
  kmsTimeoutSeconds: number;
  /** The different `kek_id` of the table `data_keys`. */
  storedKekIds: readonly string[];
  clock: Clock;
  ids: Ids;
}

/**
 * Opens the keys of vaults. With a KMS, it wraps new data keys, and SERVICE_SEALING_KEY opens older ones. Throws
 * SealingKeyProblem or KmsProblem when a stored data key has a key-encryption key that is not configured. A key is created
 * only without a KMS and without stored data keys. The KMS is not called.
 */
export async function openVaultKeys(options: OpenVaultKeysOptions): Promise<VaultKeys> {
  const { sealingKeys, kmsSocket, storedKekIds, clock } = options;
  const given = await sealingKeys.read();
  const known = given === undefined ? undefined : createLocalKeyEncryption(given);
  const { sealingKeyIds = [] } = known ?? {};
  for (const keyId of storedKekIds.map(sealingKeyIdOf))
    if (keyId !== undefined && !sealingKeyIds.includes(keyId)) throw missingSealingKey(keyId, sealingKeyIds);
  const kmsKekId = storedKekIds.find((kekId) => sealingKeyIdOf(kekId) === undefined);
  if (kmsSocket === undefined) {
    if (kmsKekId !== undefined)
      throw new KmsProblem(`is not set, and data keys of vaults are wrapped with ${kmsKekId}`);
    const local = known ?? createLocalKeyEncryption(await sealingKeys.create());
    return new VaultKeys({ keyEncryptions: [local], clock });
  }
  // Loads gRPC, which a process without a KMS does not need.
  const { openKmsKeyEncryption } = await import('./kms-kek.ts');
  const { kmsTimeoutSeconds, ids } = options;
  const timeoutMs = kmsTimeoutSeconds * 1_000;
  const kms: KeyEncryption = openKmsKeyEncryption({ socket: kmsSocket, timeoutMs, clock, ids });
  return new VaultKeys({ keyEncryptions: known ? [kms, known] : [kms], clock });
}
