import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';
import { withSmallHeap } from '../../lib/garbage-collection.ts';
import { abortable } from '../../lib/grpc/abortable.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { type Change, ChangePart, type CommitChangesRequest } from '../../proto/gen/ahs/files/v1/files.ts';

const MIB = 1024 * 1024;
/** Limit of the encoded parts of one change. 300,000 new files take about 40 MiB. */
const MAX_BYTES = 128 * MIB;
const MAX_CHANGES_PER_PART = 20_000;
/** Each change of this kind holds a database connection and its encoded parts in memory. */
const CONCURRENT_COMMITS = 2;
/** The parts are in the memory of the sender, so a sender that takes longer is paused or disconnected. */
const RECEIVE_TIMEOUT_MS = 60_000;

interface PartReceiverOptions {
  clock: Clock;
  /** Refused with INVALID_REQUEST. */
  checkChanges(changes: readonly Change[], maxChanges: number): void;
}

interface ReceivedParts {
  /** Encoded ChangePart messages. */
  parts: Buffer[];
  /** The SHA-256 of all parts. */
  digest: Buffer;
  /** The number of changes in all parts. */
  count: number;
}

export type PartReceiver = ReturnType<typeof createPartReceiver>;

/** Receives the parts of large changes, for a bounded number of changes at a time. */
export function createPartReceiver(options: PartReceiverOptions) {
  const semaphore = new Semaphore(CONCURRENT_COMMITS);
  return {
    /** Calls `apply` when all parts of a change have arrived. */
    receive: <Answer>(
      messages: AsyncIterator<CommitChangesRequest>,
      expectedParts: number,
      signal: AbortSignal,
      apply: (received: ReceivedParts) => Promise<Answer>,
    ): Promise<Answer> =>
      semaphore.run(
        async () => {
          const received = await receiveParts(messages, expectedParts, options, signal);
          return withSmallHeap(received.count, () => apply(received));
        },
        { signal },
      ),
  };
}

/**
 * Receives all encoded parts, checks their changes, and counts them. The parts stay encoded, which takes a tenth of the
 * memory. Nothing is locked meanwhile, so that a slow sender delays no other writer.
 */
async function receiveParts(
  messages: AsyncIterator<CommitChangesRequest>,
  expectedParts: number,
  { clock, checkChanges }: PartReceiverOptions,
  signal: AbortSignal,
): Promise<ReceivedParts> {
  const late = new AbortController();
  const cancel = clock.after(RECEIVE_TIMEOUT_MS, () => late.abort());
  const either = AbortSignal.any([signal, late.signal]);
  const parts: Buffer[] = [];
  const hash = createHash('sha256');
  let count = 0;
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await abortable(messages.next(), either);
      if (done) break;
      if (value.kind?.$case !== 'part')
        throw refuse('INVALID_REQUEST', 'Every message of a commit after the first one must be `part`.');
      const part = value.kind.value;
      bytes += part.length;
      if (bytes > MAX_BYTES) {
        throw refuse(
          'PAYLOAD_TOO_LARGE',
          `The list of changed files takes more than ${MAX_BYTES} bytes. Change fewer files at once.`,
        );
      }
      const changes = decodePart(part);
      checkChanges(changes, MAX_CHANGES_PER_PART);
      count += changes.length;
      hash.update(part);
      parts.push(part);
    }
  } catch (error) {
    throw late.signal.aborted
      ? refuse('DEADLINE_EXCEEDED', `The parts of the change took longer than ${RECEIVE_TIMEOUT_MS} ms.`, {
          cause: error,
        })
      : error;
  } finally {
    cancel();
  }
  // A stream that was cut off must not be committed.
  if (parts.length !== expectedParts) {
    const problem = `The change has ${expectedParts} parts, but ${parts.length} were sent.`;
    throw refuse('INVALID_REQUEST', problem);
  }
  return { parts, digest: hash.digest(), count };
}

function decodePart(part: Buffer) {
  try {
    return ChangePart.decode(part).changes;
  } catch (error) {
    throw refuse('INVALID_REQUEST', 'A part of the change is malformed.', { cause: error });
  }
}
