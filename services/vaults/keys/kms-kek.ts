import type { Clock } from '../../../lib/clock.ts';
import { openSocketClient } from '../../../lib/grpc/socket-client.ts';
import type { Ids } from '../../../lib/ids.ts';
import {
  type EncryptResponse,
  KeyManagementServiceDefinition,
} from '../../../proto/gen/kubernetes/kms/v2/api.ts';
import type { KeyEncryption } from './kek.ts';

const PREFIX = 'kms:';
/** The limits of Kubernetes for responses of plugins. */
const MAX_CIPHERTEXT_BYTES = 1_024;
const MAX_KEY_ID_BYTES = 1_024;
const MAX_ANNOTATION_BYTES = 32 * 1_024;
const MAX_RESPONSE_BYTES = 64 * 1_024;
const DOMAIN_NAME = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

interface KmsOptions {
  socket: string;
  timeoutMs: number;
  clock: Clock;
  ids: Ids;
}

/** Key-encryption keys in a key management service (KMS), through a KMS v2 plugin of Kubernetes on a unix socket. */
export function openKmsKeyEncryption({ socket, timeoutMs, clock, ids }: KmsOptions): KeyEncryption {
  const options = { clock, timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES };
  const plugin = openSocketClient(KeyManagementServiceDefinition, socket, options);

  async function readKeyId(): Promise<string> {
    const { version, healthz, keyId } = await plugin.call('status', {});
    if (version !== 'v2') throw new Error(`the KMS plugin has the version "${version.slice(0, 40)}", not v2`);
    if (healthz !== 'ok') throw new Error(`the KMS plugin reports "${healthz.slice(0, 200)}"`);
    checkKeyId(keyId);
    return keyId;
  }

  return {
    currentId: async () => PREFIX + (await readKeyId()),

    // The protocol has no associated data. The plaintext itself names its context (data-key.ts).
    async wrap(plaintext) {
      const response = await plugin.call('encrypt', { plaintext, uid: ids('req') });
      checkEncrypted(response, plaintext);
      const annotations = Object.entries(response.annotations).map(([name, value]) => [
        name,
        value.toString('base64'),
      ]);
      return {
        bytes: response.ciphertext,
        kekId: PREFIX + response.keyId,
        annotations: Object.fromEntries(annotations),
      };
    },

    async unwrap({ bytes, kekId, annotations }) {
      const { plaintext } = await plugin.call('decrypt', {
        ciphertext: bytes,
        uid: ids('req'),
        keyId: kekId.slice(PREFIX.length),
        annotations: Object.fromEntries(
          Object.entries(annotations).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
        ),
      });
      return plaintext;
    },

    knows: (kekId) => kekId.startsWith(PREFIX),
    check: async () => void (await readKeyId()),
    close: () => plugin.close(),
  };
}

function checkEncrypted({ ciphertext, keyId, annotations }: EncryptResponse, plaintext: Buffer): void {
  if (ciphertext.length === 0 || ciphertext.length > MAX_CIPHERTEXT_BYTES)
    throw new Error(`the KMS plugin returned a ciphertext of ${ciphertext.length} bytes`);
  if (ciphertext.includes(plaintext)) throw new Error('the KMS plugin returned the plaintext');
  checkKeyId(keyId);
  const entries = Object.entries(annotations);
  const bytes = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + value.length, 0);
  if (bytes > MAX_ANNOTATION_BYTES || !entries.every(([name]) => DOMAIN_NAME.test(name)))
    throw new Error('the KMS plugin returned annotations that the protocol does not allow');
}

function checkKeyId(keyId: string): void {
  if (keyId === '' || Buffer.byteLength(keyId) > MAX_KEY_ID_BYTES || keyId.includes('\0'))
    throw new Error(`the KMS plugin returned a key id of ${keyId.length} characters`);
}
