import { hkdfSync } from 'node:crypto';
import type { SealedForPeer } from '../../proto/gen/ahs/common/v1/common.ts';
import { decrypt, encrypt, KEY_BYTES } from '../aead.ts';
import { refuse } from '../errors.ts';
import type { Secret } from '../secret.ts';
import {
  type DecodedSecretJson,
  decodeSecretJson,
  encodeSecretJson,
  type SecretJson,
  secretMembers,
} from '../secret-json.ts';
import type { Contract, MethodName } from './contract.ts';

export type { SealedForPeer };

/** The call whose request or response has a sealed member. */
interface SealedCall<C extends Contract> {
  contract: C;
  method: MethodName<C>;
  /** The module at the other end: for a sender the receiver, for a receiver the sender. */
  peer: string;
  /** The request id of the call. A call without one cannot have sealed members. */
  requestId: string | undefined;
}

/**
 * Encrypts secret members of calls for the module at the other end, with or without TLS. A box opens only in the request or
 * response of the RPC and request id for which it was sealed, so a repeated call opens and a copy in another call does not.
 * A box that does not open is refused with PEER_REJECTED.
 */
export interface PeerSealer {
  seal<C extends Contract>(value: SecretJson, call: SealedCall<C>): SealedForPeer;
  sealBytes<C extends Contract>(bytes: Uint8Array, call: SealedCall<C>): SealedForPeer;
  /** An absent box is refused as well. */
  open<C extends Contract>(sealed: SealedForPeer | undefined, call: SealedCall<C>): DecodedSecretJson;
  openBytes<C extends Contract>(sealed: SealedForPeer | undefined, call: SealedCall<C>): Buffer;
}

/** Creates the sealer of the module `self` from the shared key of the services. */
export function createPeerSealer(self: string, secret: string): PeerSealer {
  const keys = new Map<string, Uint8Array>();

  /** Each direction has its own key: the request of a call does not open as its response. */
  function keyOf(sender: string, receiver: string): Uint8Array {
    const direction = `${sender}|${receiver}`;
    const known = keys.get(direction);
    if (known) return known;
    const purpose = `agent-hosting-service sealed for peer v1|${direction}`;
    const key = new Uint8Array(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
    keys.set(direction, key);
    return key;
  }

  function sealBytes<C extends Contract>(bytes: Uint8Array, call: SealedCall<C>): SealedForPeer {
    if (call.requestId === undefined)
      throw new Error(`a call of ${call.method} with a secret has no request id`);
    return { box: encrypt(keyOf(self, call.peer), bytes, associated(call)) };
  }

  function openBytes<C extends Contract>(sealed: SealedForPeer | undefined, call: SealedCall<C>): Buffer {
    if (sealed === undefined || call.requestId === undefined) throw rejected();
    return orRejected(() => decrypt(keyOf(call.peer, self), sealed.box, associated(call)));
  }

  return {
    sealBytes,
    openBytes,
    seal: (value, call) => sealBytes(encodeSecretJson(value), call),
    open(sealed, call) {
      return orRejected(() => decodeSecretJson(openBytes(sealed, call)));
    },
  };
}

/** Returns the members of an opened object whose values are all secrets. Any other value is refused with PEER_REJECTED. */
export function secretsIn(opened: DecodedSecretJson): Record<string, Secret> {
  return orRejected(() => secretMembers(opened));
}

function associated<C extends Contract>({ contract, method, requestId }: SealedCall<C>): string {
  return `v1|${contract.fullName}/${method}|${requestId}`;
}

function orRejected<Value>(open: () => Value): Value {
  try {
    return open();
  } catch {
    throw rejected();
  }
}

/** The message has no detail, because it would help to guess the content of a box. */
function rejected() {
  return refuse('PEER_REJECTED', 'A sealed member of the call cannot be opened.');
}
