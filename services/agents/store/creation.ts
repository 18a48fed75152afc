import type { IdempotencyKey } from '../../../lib/db/idempotency.ts';

/** How a repeated request is recognised, and what it is answered. */
export interface Creation {
  /** Empty: no key. */
  key: string;
  /** The request without its key, encoded. */
  request: IdempotencyKey['request'];
  answer: Uint8Array;
}
