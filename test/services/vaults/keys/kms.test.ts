import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../lib/clock.ts';
import { createIds } from '../../../../lib/ids.ts';
import { Secret } from '../../../../lib/secret.ts';
import { openVaultKeys } from '../../../../services/vaults/keys/open.ts';
import type { WrappedKey } from '../../../../services/vaults/keys/vault-keys.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { type KmsBehaviour, startKmsPlugin } from '../../../support/kms/plugin.ts';

const SEALING_KEY = 'a sealing key of more than 32 characters';
const CANARY = 'canary-of-a-bearer-token-7f3a';
const SECRETS = { token: new Secret(CANARY) };
const CREDENTIAL = { credentialId: 'crd_1', generation: 1 };
const VAULT = { code: 'VAULT_SEALED', message: 'The key of the vault vlt_1 cannot be opened now.' };
const NO_KEK = { code: 'VAULT_SEALED', message: 'The key-encryption key cannot be used now.' };

const sealingKeys = (key: string | undefined) => ({
  read: async () => key,
  create: async () => {
    throw new Error('no key is created with a KMS');
  },
});

async function open({ sealingKey }: { sealingKey?: string } = {}) {
  const stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'kms-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const kmsKeys = { current: 'key-1', byId: { 'key-1': randomBytes(32), 'key-2': randomBytes(32) } };
  const plugin = stack.use(await startKmsPlugin(join(directory, 'kms.sock'), () => kmsKeys));
  const clock = createFakeClock();
  const openKeys = async (kmsSocket: string | undefined = plugin.socket, storedKekIds: string[] = []) => {
    const keys = await openVaultKeys({
      sealingKeys: sealingKeys(sealingKey),
      kmsSocket,
      kmsTimeoutSeconds: 5,
      storedKekIds,
      clock,
      ids: createIds(systemClock),
    });
    stack.defer(() => keys.close());
    return keys;
  };
  const dispose = () => stack.disposeAsync();
  return { plugin, kmsKeys, clock, openKeys, keys: await openKeys(), [Symbol.asyncDispose]: dispose };
}

describe('VaultKeys with a KMS', () => {
  it('wraps and unwraps with the plugin: two calls for a new key, one for a key that is not in memory', async () => {
    await using system = await open();
    const { keys, plugin } = system;
    const key = await keys.create('vlt_1');
    expect(key).toMatchObject({ kekId: 'kms:key-1', kekAnnotations: { 'encryption.ahs.example': 'AP8=' } });
    const sealed = await keys.seal(key, CREDENTIAL, SECRETS);
    expect(plugin.calls).toEqual(['encrypt', 'decrypt']);
    const other = await system.openKeys();
    const opened = await Promise.all([1, 2, 3].map(() => other.open(key, CREDENTIAL, sealed)));
    expect(opened.map(({ token }) => token?.reveal())).toEqual(Array(3).fill(CANARY));
    expect(plugin.calls).toEqual(['encrypt', 'decrypt', 'decrypt']);
  });

  it('opens keys of the former KMS key after its key id has changed, and wraps with the new one', async () => {
    await using system = await open();
    const before = await system.keys.create('vlt_1');
    const sealed = await system.keys.seal(before, CREDENTIAL, SECRETS);
    system.kmsKeys.current = 'key-2';
    expect(await system.keys.currentKekId()).toBe('kms:key-2');
    const after = await system.keys.rewrap(before);
    expect(after.kekId).toBe('kms:key-2');
    const other = await system.openKeys();
    for (const key of [before, after])
      expect((await other.open(key, CREDENTIAL, sealed)).token?.reveal()).toBe(CANARY);
  });

  it('opens keys of SERVICE_SEALING_KEY while it moves them to the KMS', async () => {
    await using system = await open({ sealingKey: SEALING_KEY });
    await using local = await open({ sealingKey: SEALING_KEY });
    const source = { sealingKeys: sealingKeys(SEALING_KEY), kmsSocket: undefined, kmsTimeoutSeconds: 5 };
    const before = await (
      await openVaultKeys({ ...source, storedKekIds: [], clock: local.clock, ids: createIds(systemClock) })
    ).create('vlt_1');
    expect(before.kekId).toMatch(/^local:/);
    const sealed = await system.keys.seal(before, CREDENTIAL, SECRETS);
    const after = await system.keys.rewrap(before);
    expect(after.kekId).toBe('kms:key-1');
    expect((await system.keys.open(after, CREDENTIAL, sealed)).token?.reveal()).toBe(CANARY);
  });

  it('uses keys in memory for 5 minutes after the plugin has gone, then refuses with VAULT_SEALED', async () => {
    await using system = await open();
    const { keys, clock, plugin } = system;
    const key = await keys.create('vlt_1');
    await plugin[Symbol.asyncDispose]();
    clock.advance(299_999);
    await keys.seal(key, CREDENTIAL, SECRETS);
    clock.advance(1);
    await expect(keys.seal(key, CREDENTIAL, SECRETS)).rejects.toMatchObject({
      ...VAULT,
      cause: { name: 'SocketCallError', status: 'UNAVAILABLE' },
    });
    await expect(keys.create('vlt_2')).rejects.toMatchObject(NO_KEK);
    await expect(keys.currentKekId()).rejects.toMatchObject(NO_KEK);
    await expect(keys.check()).rejects.toMatchObject({ status: 'UNAVAILABLE' });
  });

  it('refuses with VAULT_SEALED when the plugin does not respond within its timeout', async () => {
    await using system = await open();
    const key = await system.keys.create('vlt_1');
    const keys = await system.openKeys();
    const called = Promise.withResolvers<void>();
    const silent = () => {
      called.resolve();
      return new Promise<never>(() => {});
    };
    system.plugin.override({ decrypt: silent });
    const uses = Array.from({ length: 10 }, () => keys.seal(key, CREDENTIAL, SECRETS));
    const outcomes = Promise.allSettled(uses);
    await called.promise;
    system.clock.advance(5_000);
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ reason: { ...VAULT, cause: { status: 'DEADLINE_EXCEEDED' } } });
    expect(system.plugin.calls.filter((name) => name === 'decrypt')).toHaveLength(2);
    system.plugin.override({ decrypt: undefined });
    await keys.seal(key, CREDENTIAL, SECRETS);
  });

  it('refuses only the vault whose KMS key no longer opens its data key', async () => {
    await using system = await open();
    const lost = await system.keys.create('vlt_1');
    system.kmsKeys.current = 'key-2';
    const kept = await system.keys.create('vlt_2');
    system.kmsKeys.byId['key-1'] = randomBytes(32);
    const keys = await system.openKeys();
    await expect(keys.seal(lost, CREDENTIAL, SECRETS)).rejects.toMatchObject(VAULT);
    await keys.seal(kept, CREDENTIAL, SECRETS);
  });

  it('refuses wrapped keys of another vault, with other annotations and of another KMS key', async () => {
    await using system = await open();
    const [key, other] = [await system.keys.create('vlt_1'), await system.keys.create('vlt_2')];
    const attempts: WrappedKey[] = [
      { ...key, wrapped: other.wrapped },
      { ...key, kekAnnotations: {} },
      { ...key, kekId: 'kms:key-2' },
      { ...key, kekId: 'kms:key-3' },
      { ...key, wrapped: key.wrapped.subarray(1) },
      { ...key, kekId: 'local:00000000' },
    ];
    for (const attempt of attempts)
      await expect(system.keys.seal(attempt, CREDENTIAL, SECRETS)).rejects.toMatchObject(VAULT);
  });

  const encrypted = { ciphertext: randomBytes(125), keyId: 'key-1', annotations: {} };
  it.each<[string, Partial<KmsBehaviour>]>([
    ['no ciphertext', { encrypt: async () => ({ ...encrypted, ciphertext: Buffer.alloc(0) }) }],
    ['a ciphertext over 1 kB', { encrypt: async () => ({ ...encrypted, ciphertext: randomBytes(1_025) }) }],
    ['random bytes', { encrypt: async () => encrypted }],
    ['the plaintext', { encrypt: async ({ plaintext }) => ({ ...encrypted, ciphertext: plaintext }) }],
    ['no key id', { encrypt: async () => ({ ...encrypted, keyId: '' }) }],
    ['a key id over 1 kB', { encrypt: async () => ({ ...encrypted, keyId: 'k'.repeat(1_025) }) }],
    [
      'annotations over 32 kB',
      { encrypt: async () => ({ ...encrypted, annotations: { a: randomBytes(32_769) } }) },
    ],
    [
      'an annotation without a domain name',
      { encrypt: async () => ({ ...encrypted, annotations: { 'A b': Buffer.of() } }) },
    ],
    ['a response over 64 kB', { encrypt: async () => ({ ...encrypted, ciphertext: randomBytes(70_000) }) }],
    ['another plaintext', { decrypt: async () => ({ plaintext: randomBytes(97) }) }],
    ['no plaintext', { decrypt: async () => ({ plaintext: Buffer.alloc(0) }) }],
  ])('refuses a new data key when the plugin returns %s', async (_, behaviour) => {
    await using system = await open();
    system.plugin.override(behaviour);
    await expect(system.keys.create('vlt_1')).rejects.toMatchObject(NO_KEK);
  });

  it.each([
    ['another version', { version: 'v1beta1', healthz: 'ok', keyId: 'key-1' }],
    ['a failure', { version: 'v2', healthz: 'no HSM', keyId: 'key-1' }],
    ['no key id', { version: 'v2', healthz: 'ok', keyId: '' }],
  ])('reports that the plugin is not ready when its status has %s', async (_, status) => {
    await using system = await open();
    await system.keys.check();
    system.plugin.override({ status: async () => status });
    await expect(system.keys.check()).rejects.toThrow('the KMS plugin');
    await expect(system.keys.currentKekId()).rejects.toMatchObject(NO_KEK);
  });
});

describe('openVaultKeys', () => {
  const local = async (sealingKey: string | undefined, storedKekIds: string[], kmsSocket?: string) =>
    openVaultKeys({
      sealingKeys: { read: async () => sealingKey, create: async () => SEALING_KEY },
      kmsSocket,
      kmsTimeoutSeconds: 5,
      storedKekIds,
      clock: createFakeClock(),
      ids: createIds(systemClock),
    });

  it('names the missing sealing key, with and without a KMS', async () => {
    const stored = ['local:0123abcd', 'kms:key-1'];
    for (const socket of ['/run/kms.sock', undefined]) {
      await expect(local(SEALING_KEY, stored, socket)).rejects.toMatchObject({
        name: 'SealingKeyProblem',
        message: expect.stringMatching(/^the key 0123abcd, .* is missing \(configured: [0-9a-f]{8}\)$/),
      });
      await expect(local(undefined, stored, socket)).rejects.toThrow('0123abcd');
    }
  });

  it('names the KMS key of stored data keys when no KMS is configured', async () => {
    await expect(local(SEALING_KEY, ['kms:key-1'])).rejects.toMatchObject({
      name: 'KmsProblem',
      message: 'is not set, and data keys of vaults are wrapped with kms:key-1',
    });
  });

  it('creates a sealing key only without a KMS', async () => {
    expect((await (await local(undefined, [])).create('vlt_1')).kekId).toMatch(/^local:/);
    const withKms = await local(undefined, ['kms:key-1'], '/nowhere/kms.sock');
    await expect(withKms.create('vlt_1')).rejects.toMatchObject(NO_KEK);
  });
});
