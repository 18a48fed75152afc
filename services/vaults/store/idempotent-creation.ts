import type { IdempotencyKey } from '../../../lib/db/idempotency.ts';

/** Identifies a repeated request to create, and its answer. */
export interface IdempotentCreation {
  /** Empty for a request without a key. */
  key: string;
  /** The encoded request without its key, with opened secrets. */
  request: IdempotencyKey['request'];
  /** The key of the digest of the request. */
  digestKey: Uint8Array;
  /** Contains no secret. */
  answer: Uint8Array;
}
