import { decrypt, encrypt } from '../../../lib/aead.ts';
import { deriveKeys } from '../../../lib/sealing.ts';
import type { KeyEncryption } from './kek.ts';

const PREFIX = 'local:';
const PURPOSE = 'agent-hosting-service vault key-encryption key v1';

interface LocalKeyEncryption extends KeyEncryption {
  /** The ids of the keys of SERVICE_SEALING_KEY. */
  sealingKeyIds: readonly string[];
}

/** Key-encryption keys that derive from SERVICE_SEALING_KEY. The first key wraps and every key unwraps. */
export function createLocalKeyEncryption(sealingKeys: string): LocalKeyEncryption {
  const keys = deriveKeys(sealingKeys, PURPOSE);
  const byId = new Map(keys.map(({ id, bytes }) => [PREFIX + id, bytes]));
  const [{ id, bytes: currentKey }] = keys;
  const currentId = PREFIX + id;

  return {
    sealingKeyIds: keys.map((key) => key.id),
    currentId: async () => currentId,
    wrap: async (plaintext, context) => ({
      bytes: encrypt(currentKey, plaintext, associated(currentId, context)),
      kekId: currentId,
      annotations: {},
    }),
    async unwrap({ bytes, kekId }, context) {
      const key = byId.get(kekId);
      if (!key) throw new Error(`the key ${kekId} is not configured`);
      return decrypt(key, bytes, associated(kekId, context));
    },
    knows: (kekId) => byId.has(kekId),
    check: async () => {},
    close: () => {},
  };
}

/** Returns the id of the key of SERVICE_SEALING_KEY, or undefined for a key of a KMS. */
export function sealingKeyIdOf(kekId: string): string | undefined {
  return kekId.startsWith(PREFIX) ? kekId.slice(PREFIX.length) : undefined;
}

function associated(kekId: string, context: string): string {
  return `v1|${kekId}|${context}`;
}
