import type { IdempotencyKey } from '../../../lib/db/idempotency.ts';

/** Identifies a repeated request to create, and its answer. */
export interface IdempotentCreation {
  /** Empty for a request without a key. */
  key: string;
  /** The encoded request without its key. */
  request: IdempotencyKey['request'];
  answer: Uint8Array;
}
