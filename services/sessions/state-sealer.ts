import { hkdfSync } from 'node:crypto';
import { decrypt, encrypt, KEY_BYTES } from '../../lib/aead.ts';

/** Encrypts what a tool needs to continue a call, while the call waits for input. */
export interface StateSealer {
  seal(state: Uint8Array, approvalId: string): Buffer;
  /** A box of another approval and a changed box give an empty state: the tool refuses it and ends the call. */
  open(sealed: Uint8Array, approvalId: string): Buffer;
}

/**
 * The key derives from the shared key of the services, which every process of this service has. A state is needed no longer
 * than its approval, so a change of the key affects only the calls that wait at that time.
 */
export function createStateSealer(
  secret: string,
  onFailure: (error: unknown, approvalId: string) => void,
): StateSealer {
  const purpose = 'agent-hosting-service approval state v1';
  const key = new Uint8Array(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
  return {
    seal: (state, approvalId) => encrypt(key, state, associated(approvalId)),
    open(sealed, approvalId) {
      try {
        return decrypt(key, sealed, associated(approvalId));
      } catch (error) {
        onFailure(error, approvalId);
        return Buffer.alloc(0);
      }
    },
  };
}

function associated(approvalId: string): string {
  return `v1|approval|${approvalId}`;
}
