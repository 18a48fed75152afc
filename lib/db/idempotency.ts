import { createHash, createHmac } from 'node:crypto';
import { refuse } from '../errors.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from './database.ts';
import { isRowLocked } from './failure.ts';

/**
 * An Idempotency-Key with its request. Each schema that creates resources has a table `idempotency_keys`. The key is
 * written in the transaction that creates the resource, so a second request waits for the first.
 */
export interface IdempotencyKey {
  /** usr_…: keys are separate for each caller. */
  caller: string;
  /** Empty when the request has no key; it is then always executed. */
  key: string;
  method: string;
  /** The encoded request without its key. Two requests are equal when the method and these bytes are equal. */
  request: { finish(): Uint8Array };
  /**
   * The key of the digest of the request. A request with a secret needs one, because a digest without a key can be tested
   * by guessing.
   */
  digestKey?: Uint8Array;
  now: Date;
}

interface StoredAnswer {
  fingerprint: Buffer;
  answer: Buffer;
}

const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Returns the time before which keys are expired and can be reused. */
export function expiryOf(now: Date): Date {
  return new Date(now.getTime() - LIFETIME_MS);
}

function fingerprintOf({ method, request, digestKey }: IdempotencyKey): Buffer {
  const digest = digestKey ? createHmac('sha256', digestKey) : createHash('sha256');
  return digest.update(method).update('\0').update(request.finish()).digest();
}

/** Returns the stored answer. Throws IDEMPOTENCY_KEY_CONFLICT when it belongs to a different request. */
function replay(stored: StoredAnswer, fingerprint: Buffer): Buffer {
  if (!stored.fingerprint.equals(fingerprint)) {
    throw refuse(
      'IDEMPOTENCY_KEY_CONFLICT',
      'This Idempotency-Key was already used for a different request.',
    );
  }
  return stored.answer;
}

/** Bounds the wait for a request with the same key, and every other lock wait of the transaction. */
const WAIT = statement('idempotency.wait', `select set_config('lock_timeout', $1, true)`);
const LOCK_WAIT_MS = 5_000;

const TAKE = statement(
  'idempotency.take',
  `insert into idempotency_keys as kept (caller, key, fingerprint, answer, created_at)
   values ($1, $2, $3, '', $4)
   on conflict (caller, key) do update
     set fingerprint = excluded.fingerprint, answer = '', created_at = excluded.created_at
     where kept.created_at < $5
   returning caller`,
);

const READ = statement(
  'idempotency.read',
  'select fingerprint, answer from idempotency_keys where caller = $1 and key = $2',
);

const READ_CURRENT = statement(
  'idempotency.read_current',
  'select fingerprint, answer from idempotency_keys where caller = $1 and key = $2 and created_at >= $3',
);

const KEEP = statement(
  'idempotency.keep',
  'update idempotency_keys set answer = $3 where caller = $1 and key = $2',
);

/**
 * Returns the stored answer of an earlier request with the key; undefined when there is none or it is expired. Throws
 * IDEMPOTENCY_KEY_CONFLICT. For requests that must not repeat work before the transaction of `runOnce`.
 */
export async function findAnswer(
  db: Database,
  idempotency: IdempotencyKey,
  options?: ReadOptions,
): Promise<Uint8Array | undefined> {
  const { caller, key, now } = idempotency;
  const [stored] = await db.rows<StoredAnswer>(READ_CURRENT, [caller, key, expiryOf(now)], options);
  return stored && replay(stored, fingerprintOf(idempotency));
}

export interface IdempotentAnswer {
  answer: Uint8Array;
  /** Whether the answer is the stored answer of an earlier request. */
  replayed: boolean;
}

interface RunOnceOptions extends WriteOptions {
  /** How long each statement of the transaction waits for a lock. Default: LOCK_WAIT_MS. */
  lockWaitMs?: number;
}

/**
 * Runs `create` in a transaction, at most once per caller and key. Later requests get the stored answer. Throws
 * IDEMPOTENCY_KEY_IN_USE when another transaction keeps the row of the key locked, and DEPENDENCY_UNAVAILABLE when another
 * lock is not available.
 */
export async function runOnce(
  db: Database,
  idempotency: IdempotencyKey,
  create: (tx: DatabaseSession) => Promise<Uint8Array>,
  { lockWaitMs = LOCK_WAIT_MS, ...options }: RunOnceOptions = {},
): Promise<IdempotentAnswer> {
  const { caller, key, now } = idempotency;
  const fingerprint = fingerprintOf(idempotency);
  return db.transaction(async (tx) => {
    if (key === '') return { answer: await create(tx), replayed: false };
    await tx.rows(WAIT, [`${lockWaitMs}ms`]);
    const taken = await tx
      .rows(TAKE, [caller, key, fingerprint, now, expiryOf(now)])
      .catch((error: unknown) => {
        // The lock that was not available can also be one of the whole table.
        if (!isRowLocked(error, 'idempotency_keys')) throw error;
        throw refuse('IDEMPOTENCY_KEY_IN_USE', 'A request with this Idempotency-Key is still in progress.', {
          retryAfterSeconds: 1,
        });
      });
    if (taken.length === 0) {
      const [stored] = await tx.rows<StoredAnswer>(READ, [caller, key]);
      if (!stored)
        throw refuse('IDEMPOTENCY_KEY_IN_USE', 'A request with this Idempotency-Key is still in progress.');
      return { answer: replay(stored, fingerprint), replayed: true };
    }
    const answer = await create(tx);
    await tx.change(KEEP, [caller, key, Buffer.from(answer)]);
    return { answer, replayed: false };
  }, options);
}
