import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createIds } from '../../lib/ids.ts';
import { Secret } from '../../lib/secret.ts';
import { openVaultKeys } from '../../services/vaults/keys/open.ts';
import { createFakeClock } from '../support/clock.ts';
import { type KmsPluginProcess, startFileKms, startSoftHsmKms } from '../support/kms/plugin-process.ts';

const CANARY = 'canary-of-a-bearer-token-7f3a';
const SECRETS = { token: new Secret(CANARY) };
const CREDENTIAL = { credentialId: 'crd_1', generation: 1 };
const SEALED = { code: 'VAULT_SEALED' };

const keysOf = (kmsSocket: string, clock = systemClock) =>
  openVaultKeys({
    sealingKeys: { read: async () => undefined, create: async () => '' },
    kmsSocket,
    kmsTimeoutSeconds: 1,
    storedKekIds: [],
    clock,
    ids: createIds(systemClock),
  });

describe.each<[string, () => Promise<KmsPluginProcess>]>([
  ['keys in a file', startFileKms],
  ['SoftHSM', startSoftHsmKms],
])('a KMS plugin process with %s', (_, startPlugin) => {
  let plugin: KmsPluginProcess;
  beforeAll(async () => {
    plugin = await startPlugin();
  });
  afterAll(() => plugin?.[Symbol.asyncDispose]());

  async function open(clock = systemClock) {
    const keys = await keysOf(plugin.socket, clock);
    return { keys, [Symbol.dispose]: () => keys.close() };
  }

  it('wraps data keys that other processes unwrap', async () => {
    using one = await open();
    using two = await open();
    await one.keys.check();
    const key = await one.keys.create('vlt_1');
    expect(key.kekId).toMatch(/^kms:(file|hsm)-key-1$/);
    const sealed = await one.keys.seal(key, CREDENTIAL, SECRETS);
    expect((await two.keys.open(key, CREDENTIAL, sealed)).token?.reveal()).toBe(CANARY);
    const damaged = { ...key, wrapped: Buffer.from(key.wrapped).fill(0, 20) };
    await expect(two.keys.open(damaged, CREDENTIAL, sealed)).rejects.toMatchObject(SEALED);
  });

  it('seals a vault while the process is suspended, and opens it afterwards', async () => {
    using one = await open();
    const key = await one.keys.create('vlt_1');
    using two = await open();
    await two.keys.check();
    const resume = plugin.suspend();
    try {
      await expect(two.keys.seal(key, CREDENTIAL, SECRETS)).rejects.toMatchObject({
        ...SEALED,
        cause: { status: 'DEADLINE_EXCEEDED' },
      });
      // This data key is in memory.
      await one.keys.seal(key, CREDENTIAL, SECRETS);
    } finally {
      resume();
    }
    await two.keys.seal(key, CREDENTIAL, SECRETS);
  });

  it('seals a vault while the process is gone and its data key is not in memory, and opens it after a restart', async () => {
    const clock = createFakeClock();
    using opened = await open(clock);
    const { keys } = opened;
    const key = await keys.create('vlt_1');
    await plugin.kill();
    await keys.seal(key, CREDENTIAL, SECRETS);
    clock.advance(300_000);
    await expect(keys.seal(key, CREDENTIAL, SECRETS)).rejects.toMatchObject({
      ...SEALED,
      cause: { status: 'UNAVAILABLE' },
    });
    await plugin.start();
    await expect
      .poll(() => keys.seal(key, CREDENTIAL, SECRETS).then(() => 'sealed', String), { timeout: 5_000 })
      .toBe('sealed');
  });

  it('opens data keys of the former key after a change of the key id, and wraps with the new key', async () => {
    using one = await open();
    const before = await one.keys.create('vlt_1');
    const sealed = await one.keys.seal(before, CREDENTIAL, SECRETS);
    await plugin.addKey('key-2');
    await expect.poll(() => one.keys.currentKekId().catch(String), { timeout: 5_000 }).toBe('kms:key-2');
    const after = await one.keys.rewrap(before);
    expect(after.kekId).toBe('kms:key-2');
    using two = await open();
    for (const key of [before, after])
      expect((await two.keys.open(key, CREDENTIAL, sealed)).token?.reveal()).toBe(CANARY);
  });
});

describe('a KMS that has lost a key', () => {
  it('seals the vaults of that key alone', async () => {
    await using plugin = await startFileKms();
    const first = await keysOf(plugin.socket);
    const lost = await first.create('vlt_1');
    await plugin.addKey('file-key-2');
    const kept = await first.create('vlt_2');
    first.close();
    plugin.removeKey('file-key-1');
    const keys = await keysOf(plugin.socket);
    await expect(keys.seal(lost, CREDENTIAL, SECRETS)).rejects.toMatchObject(SEALED);
    await keys.seal(kept, CREDENTIAL, SECRETS);
    keys.close();
  });
});
