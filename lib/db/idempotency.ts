import { createHash } from 'node:crypto';
import type { BinaryWriter } from '@bufbuild/protobuf/wire';
import { refuse } from '../errors.ts';
import { type Database, type Session, statement, type WriteOptions } from './database.ts';
import { sqlState } from './failure.ts';

/**
 * What an Idempotency-Key stands for. Each schema that creates things has a table `idempotency_keys`;
 * the key is written in the transaction that creates, so a second request waits for the first.
 */
export interface IdempotencyKey {
  /** usr_…: keys of different callers never meet. */
  caller: string;
  /** Empty: the request has no key and is carried out. */
  key: string;
  method: string;
  /** The request without its key, encoded: two requests are the same when method and these bytes are. */
  request: BinaryWriter;
  now: Date;
}

interface StoredAnswer {
  fingerprint: Buffer;
  answer: Buffer;
}

const KEPT_MS = 24 * 60 * 60 * 1000;

/** Keys older than this may be used anew. */
export function expiryOf(now: Date): Date {
  return new Date(now.getTime() - KEPT_MS);
}

function fingerprintOf({ method, request }: IdempotencyKey): Buffer {
  return createHash('sha256').update(method).update('\0').update(request.finish()).digest();
}

/** The stored answer, if it was given to the same request. */
function replay(stored: StoredAnswer, fingerprint: Buffer): Buffer {
  if (!stored.fingerprint.equals(fingerprint)) {
    throw refuse('IDEMPOTENCY_KEY_CONFLICT', 'this Idempotency-Key was used for another request');
  }
  return stored.answer;
}

const WAIT = statement('idempotency.wait', `select set_config('lock_timeout', '5s', true)`);

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

const KEEP = statement(
  'idempotency.keep',
  'update idempotency_keys set answer = $3 where caller = $1 and key = $2',
);

export interface OnceAnswer {
  answer: Uint8Array;
  /** It is the stored answer of an earlier request. */
  replayed: boolean;
}

/** Runs `create` in a transaction, at most once per caller and key; later requests get the answer it returned. */
export async function once(
  db: Database,
  idempotency: IdempotencyKey,
  create: (tx: Session) => Promise<Uint8Array>,
  options?: WriteOptions,
): Promise<OnceAnswer> {
  const { caller, key, now } = idempotency;
  const fingerprint = fingerprintOf(idempotency);
  return db.transaction(async (tx) => {
    if (key === '') return { answer: await create(tx), replayed: false };
    await tx.rows(WAIT);
    const taken = await tx
      .rows(TAKE, [caller, key, fingerprint, now, expiryOf(now)])
      .catch((error: unknown) => {
        if (sqlState(error) !== '55P03') throw error;
        throw refuse('IDEMPOTENCY_KEY_IN_USE', 'a request with this Idempotency-Key is still under way', {
          retryAfterSeconds: 1,
        });
      });
    if (taken.length === 0) {
      const [stored] = await tx.rows<StoredAnswer>(READ, [caller, key]);
      if (!stored)
        throw refuse('IDEMPOTENCY_KEY_IN_USE', 'a request with this Idempotency-Key is still under way');
      return { answer: replay(stored, fingerprint), replayed: true };
    }
    const answer = await create(tx);
    await tx.change(KEEP, [caller, key, Buffer.from(answer)]);
    return { answer, replayed: false };
  }, options);
}
