import { decrypt, encrypt } from '../../../../lib/aead.ts';
import type { DeriveKey } from '../../../../lib/derived-key.ts';
import type { AwaitedTurn } from '../waiting.ts';

const PURPOSE = 'agent-hosting-service mcp request state v1';
/** How long a client may take to answer. */
export const STATE_TTL_MS = 10 * 60 * 1_000;

/** What a call waits for, which the client keeps until it repeats the call with the answers. */
export interface RequestState extends AwaitedTurn {
  /** The keys of the requests that the client has to answer: each names one approval or question. */
  asked: readonly string[];
  /** The keys of the requests that it has answered in earlier calls. They are not asked again. */
  answered: readonly string[];
}

/** Encrypts a state for one user (AES-256-GCM), for 10 minutes from `now`. */
export function sealRequestState(
  deriveKey: DeriveKey,
  userId: string,
  { sessionId, turnId, asked, answered }: RequestState,
  now: Date,
): string {
  const expiresAt = now.getTime() + STATE_TTL_MS;
  const text = JSON.stringify({ sessionId, turnId, asked, answered, expiresAt });
  return encrypt(deriveKey(PURPOSE), Buffer.from(text), associated(userId)).toString('base64url');
}

/** Undefined for a text that is changed, of another user or expired. */
export function openRequestState(
  deriveKey: DeriveKey,
  userId: string,
  sealed: string,
  now: Date,
): RequestState | undefined {
  const box = Buffer.from(sealed, 'base64url');
  // Other texts can decode to the same bytes.
  if (box.toString('base64url') !== sealed) return undefined;
  let text: string;
  try {
    text = decrypt(deriveKey(PURPOSE), box, associated(userId)).toString();
  } catch {
    return undefined;
  }
  const { expiresAt, ...state }: RequestState & { expiresAt: number } = JSON.parse(text);
  return now.getTime() < expiresAt ? state : undefined;
}

const associated = (userId: string) => `v1|${userId}`;
