/**
 * Measures the keys of vaults: time and CPU time of one operation, medians over rounds, and the memory of 1,000 data keys.
 *
 *   node --expose-gc test/bench/measurements/vault-keys.ts
 */
import { systemClock } from '../../../lib/clock.ts';
import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import { createIds } from '../../../lib/ids.ts';
import { Secret } from '../../../lib/secret.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openVaultKeys } from '../../../services/vaults/keys/open.ts';
import type { VaultKeys, WrappedKey } from '../../../services/vaults/keys/vault-keys.ts';
import { startFileKms, startSoftHsmKms } from '../../support/kms/plugin-process.ts';

const ROUNDS = 9;
const KEY_TIMES = 100;
const SECRETS = { token: new Secret('ghp_a token of forty characters for a test') };
const CREDENTIAL = { credentialId: `crd_${'0'.repeat(26)}`, generation: 1 };
const VAULT = `vlt_${'0'.repeat(26)}`;

const open = (kmsSocket: string | undefined) =>
  openVaultKeys({
    sealingKeys: { read: async () => 'a sealing key of more than 32 characters', create: async () => '' },
    kmsSocket,
    kmsTimeoutSeconds: 5,
    storedKekIds: [],
    clock: systemClock,
    ids: createIds(systemClock),
  });

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Prints the median time and CPU time of one call in microseconds. */
async function measure(name: string, times: number, work: (index: number) => unknown): Promise<void> {
  const elapsed: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    const startCpu = process.cpuUsage();
    for (let index = 0; index < times; index++) await work(index);
    const { user, system } = process.cpuUsage(startCpu);
    elapsed.push(((performance.now() - start) * 1_000) / times);
    cpu.push((user + system) / times);
  }
  const shown = [elapsed, cpu].map((values) => median(values).toFixed(1).padStart(8)).join(' µs, CPU ');
  console.log(`${name.padEnd(70)} ${shown} µs`);
}

/** The keys of `other` are not in the memory of `keys`. */
async function measureKeys(name: string, keys: VaultKeys, other: VaultKeys): Promise<void> {
  const wrapped: WrappedKey[] = [];
  await measure(`${name}: create a data key (wrap, and unwrap to check it)`, KEY_TIMES, async () => {
    wrapped.push(await other.create(VAULT));
  });
  const remaining = wrapped.values();
  await measure(`${name}: unwrap a data key and seal with it`, KEY_TIMES, async () => {
    const { value: key } = remaining.next();
    if (key) await keys.seal(key, CREDENTIAL, SECRETS);
  });
}

const local = await open(undefined);
const key = await local.create(VAULT);
const sealed = await local.seal(key, CREDENTIAL, SECRETS);
await measure('seal a credential, data key in memory', 5_000, () => local.seal(key, CREDENTIAL, SECRETS));
await measure('open a credential, data key in memory', 5_000, () => local.open(key, CREDENTIAL, sealed));
await measure('fingerprint', 5_000, () => local.describe(key, SECRETS.token));

const call = { contract: VaultsServiceDefinition, method: 'createCredential', requestId: 'req_1' } as const;
const edge = createPeerSealer('edge', 'the shared secret of the services');
const vaults = createPeerSealer('vaults', 'the shared secret of the services');
const box = edge.seal(SECRETS, { ...call, peer: 'vaults' });
await measure('seal a member for a peer', 5_000, () => edge.seal(SECRETS, { ...call, peer: 'vaults' }));
await measure('open a member of a peer', 5_000, () => vaults.open(box, { ...call, peer: 'edge' }));

await measureKeys('local', local, await open(undefined));
for (const [name, start] of [
  ['KMS, keys in a file', startFileKms],
  ['KMS, SoftHSM', startSoftHsmKms],
] as const) {
  await using plugin = await start();
  const [keys, other] = [await open(plugin.socket), await open(plugin.socket)];
  await measureKeys(name, keys, other);
  keys.close();
  other.close();
}

/** Collects what several collections and finalizers leave behind. */
async function collect(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const idle = await open(undefined);
await collect();
const before = process.memoryUsage();
const held: unknown[] = [];
for (let index = 0; index < 1_000; index++) {
  const wrapped = await idle.create(`vlt_${index}`);
  held.push(await idle.seal(wrapped, CREDENTIAL, SECRETS));
}
await collect();
const after = process.memoryUsage();
const grown = after.heapUsed + after.external - before.heapUsed - before.external;
console.log(
  `memory of 1,000 data keys and ${held.length} sealed credentials: ${(grown / 1024).toFixed(0)} KiB`,
);
idle.close();
local.close();
