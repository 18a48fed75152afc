import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../lib/secret.ts';
import type { KeyEncryption, WrappedText } from '../../../../services/vaults/keys/kek.ts';
import { createLocalKeyEncryption } from '../../../../services/vaults/keys/local-kek.ts';
import { VaultKeys, type WrappedKey } from '../../../../services/vaults/keys/vault-keys.ts';
import { createFakeClock } from '../../../support/clock.ts';

const SEALING_KEY = 'a sealing key of more than 32 characters';
const OTHER_SEALING_KEY = 'another sealing key of over 32 characters';
const CANARY = 'canary-of-a-bearer-token-7f3a';
const CREDENTIAL = { credentialId: 'crd_1', generation: 1 };
const SECRETS = { token: new Secret(CANARY) };
const OPENED = { token: CANARY };

const keysOf = (sealingKey = SEALING_KEY, clock = createFakeClock()) =>
  new VaultKeys({ keyEncryptions: [createLocalKeyEncryption(sealingKey)], clock });

const revealed = (secrets: Record<string, Secret>) =>
  Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));

/** Counts the calls of key-encryption keys and keeps the plaintexts that they return. */
function observed(inner: KeyEncryption) {
  const unwrapped: Buffer[] = [];
  const keyEncryption: KeyEncryption = {
    ...inner,
    async unwrap(wrapped: WrappedText, context: string) {
      const plaintext = await inner.unwrap(wrapped, context);
      unwrapped.push(plaintext);
      return plaintext;
    },
  };
  return { keyEncryption, unwrapped };
}

const VAULT_OPEN = { code: 'VAULT_SEALED', message: 'The key of the vault vlt_1 cannot be opened now.' };
const SECRET_SEALED = {
  code: 'VAULT_SEALED',
  message: 'The secret of the credential crd_1 cannot be opened. Store it again.',
};

describe('VaultKeys', () => {
  it('opens a secret that it sealed, also in another process with the same key-encryption key', async () => {
    const key = await keysOf().create('vlt_1');
    expect(key).toMatchObject({ vaultId: 'vlt_1', generation: 1, kekAnnotations: {} });
    expect(key.kekId).toMatch(/^local:[0-9a-f]{8}$/);
    const sealed = await keysOf().seal(key, CREDENTIAL, SECRETS);
    expect(sealed.includes(CANARY)).toBe(false);
    expect(revealed(await keysOf().open(key, CREDENTIAL, sealed))).toEqual(OPENED);
  });

  it('seals the same secret differently each time', async () => {
    const keys = keysOf();
    const key = await keys.create('vlt_1');
    const [one, two] = [await keys.seal(key, CREDENTIAL, SECRETS), await keys.seal(key, CREDENTIAL, SECRETS)];
    expect(one.equals(two)).toBe(false);
  });

  it.each([
    ['another credential', { credentialId: 'crd_2', generation: 1 }],
    ['an older generation of the credential', { credentialId: 'crd_1', generation: 0 }],
    ['a newer generation of the credential', { credentialId: 'crd_1', generation: 2 }],
  ])('refuses a sealed secret in %s', async (_, credential) => {
    const keys = keysOf();
    const key = await keys.create('vlt_1');
    const sealed = await keys.seal(key, CREDENTIAL, SECRETS);
    await expect(keys.open(key, credential, sealed)).rejects.toMatchObject({ code: 'VAULT_SEALED' });
    expect(revealed(await keys.open(key, CREDENTIAL, sealed))).toEqual(OPENED);
  });

  it('refuses a sealed secret in another vault and with another generation of the data key', async () => {
    const keys = keysOf();
    const key = await keys.create('vlt_1');
    const sealed = await keys.seal(key, CREDENTIAL, SECRETS);
    const attempts = [await keys.create('vlt_2'), await keys.createNext(key)];
    for (const other of attempts)
      await expect(keys.open(other, CREDENTIAL, sealed)).rejects.toMatchObject(SECRET_SEALED);
  });

  it('refuses a sealed secret with any changed, removed or added byte', async () => {
    const keys = keysOf();
    const key = await keys.create('vlt_1');
    const sealed = await keys.seal(key, CREDENTIAL, SECRETS);
    const changed = [...sealed.keys()].map((at) => {
      const copy = Buffer.from(sealed);
      copy[at]! ^= 1;
      return copy;
    });
    const cut = [0, 1, 12, 27, sealed.length - 1].map((length) => sealed.subarray(0, length));
    for (const attempt of [...changed, ...cut, Buffer.concat([sealed, Buffer.of(0)])])
      await expect(keys.open(key, CREDENTIAL, attempt)).rejects.toMatchObject(SECRET_SEALED);
  });

  it('refuses wrapped data keys that were swapped between vaults or generations, or changed', async () => {
    const keys = keysOf();
    const [first, other] = [await keys.create('vlt_1'), await keys.create('vlt_2')];
    const second = await keys.createNext(first);
    const flipped = Buffer.from(first.wrapped);
    flipped[20]! ^= 1;
    const attempts: WrappedKey[] = [
      { ...first, wrapped: other.wrapped },
      { ...first, wrapped: second.wrapped },
      { ...second, vaultId: 'vlt_1', wrapped: first.wrapped },
      { ...first, wrapped: flipped },
      { ...first, wrapped: first.wrapped.subarray(0, 40) },
      { ...first, wrapped: Buffer.alloc(0) },
      { ...first, kekId: 'local:00000000' },
      { ...first, kekId: 'kms:a-key' },
    ];
    for (const attempt of attempts)
      await expect(keys.seal(attempt, CREDENTIAL, SECRETS)).rejects.toMatchObject(VAULT_OPEN);
    await keys.seal(first, CREDENTIAL, SECRETS);
  });

  it('refuses data keys of another sealing key, and names it only in the cause', async () => {
    const key = await keysOf().create('vlt_1');
    const attempt = keysOf(OTHER_SEALING_KEY).seal(key, CREDENTIAL, SECRETS);
    await expect(attempt).rejects.toMatchObject({
      ...VAULT_OPEN,
      cause: { message: `the key-encryption key ${key.kekId} is not configured` },
    });
  });

  it('unwraps with every sealing key and wraps with the first one', async () => {
    const before = await keysOf().create('vlt_1');
    const sealed = await keysOf().seal(before, CREDENTIAL, SECRETS);
    const both = keysOf(`${OTHER_SEALING_KEY}, ${SEALING_KEY}`);
    expect(revealed(await both.open(before, CREDENTIAL, sealed))).toEqual(OPENED);
    const rewrapped = await both.rewrap(before);
    expect(rewrapped).toMatchObject({ vaultId: 'vlt_1', generation: 1, kekId: await both.currentKekId() });
    expect(rewrapped.kekId).not.toBe(before.kekId);
    expect(revealed(await keysOf(OTHER_SEALING_KEY).open(rewrapped, CREDENTIAL, sealed))).toEqual(OPENED);
  });

  it('calls a key-encryption key once for concurrent uses of a data key', async () => {
    const { keyEncryption, unwrapped } = observed(createLocalKeyEncryption(SEALING_KEY));
    const key = await keysOf().create('vlt_1');
    const keys = new VaultKeys({ keyEncryptions: [keyEncryption], clock: createFakeClock() });
    await Promise.all(Array.from({ length: 100 }, () => keys.seal(key, CREDENTIAL, SECRETS)));
    expect(unwrapped).toHaveLength(1);
  });

  it('refuses to use a data key that its key-encryption key does not give back', async () => {
    const inner = createLocalKeyEncryption(SEALING_KEY);
    const wrap = async (plaintext: Buffer, context: string) => {
      const wrapped = await inner.wrap(plaintext, context);
      return { ...wrapped, bytes: wrapped.bytes.subarray(1) };
    };
    const keys = new VaultKeys({ keyEncryptions: [{ ...inner, wrap }], clock: createFakeClock() });
    const message = 'The key-encryption key cannot be used now.';
    await expect(keys.create('vlt_1')).rejects.toMatchObject({ code: 'VAULT_SEALED', message });
  });
});

describe('placeholders', () => {
  it('differ by vault, session and credential, and stay after a rotation of the data key', async () => {
    const keys = keysOf();
    const first = await keys.create('vlt_1');
    const second = await keys.createNext(first);
    const placeholder = await keys.placeholder(first, 'ses_1', 'crd_1');
    expect(placeholder).toMatch(/^[0-9a-f]{32}$/);
    expect(await keysOf().placeholder(second, 'ses_1', 'crd_1')).toBe(placeholder);
    const others = [
      await keys.placeholder(await keys.create('vlt_1'), 'ses_1', 'crd_1'),
      await keys.placeholder(first, 'ses_2', 'crd_1'),
      await keys.placeholder(first, 'ses_1', 'crd_2'),
    ];
    expect(new Set([placeholder, ...others]).size).toBe(4);
  });
});

describe('fingerprints of secrets', () => {
  it('are equal for equal secrets of a vault, also after a rotation of its data key', async () => {
    const keys = keysOf();
    const first = await keys.create('vlt_1');
    const second = await keys.createNext(await keys.rewrap(first));
    const { fingerprint } = await keys.describe(first, new Secret(CANARY));
    expect(fingerprint).toMatch(/^[0-9a-f]{12}$/);
    expect(await keysOf().describe(second, new Secret(CANARY))).toMatchObject({ fingerprint });
    expect((await keys.describe(first, new Secret(`${CANARY}x`))).fingerprint).not.toBe(fingerprint);
  });

  it('differ between vaults', async () => {
    const keys = keysOf();
    const [one, two] = [await keys.create('vlt_1'), await keys.create('vlt_2')];
    const secret = new Secret(CANARY);
    expect((await keys.describe(one, secret)).fingerprint).not.toBe(
      (await keys.describe(two, secret)).fingerprint,
    );
  });

  it.each([
    ['1234567890123456789', undefined],
    ['12345678901234567890', '7890'],
    ['🔑'.repeat(19), undefined],
    [`${'🔑'.repeat(16)}abc🔑`, 'abc🔑'],
  ])('come with the last four characters of %s: %s', async (text, lastFour) => {
    const keys = keysOf();
    expect((await keys.describe(await keys.create('vlt_1'), new Secret(text))).lastFour).toBe(lastFour);
  });
});
