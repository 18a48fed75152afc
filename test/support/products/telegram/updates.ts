import type { Update } from 'grammy/types';
import { type Clock, wait } from '../../../../lib/clock.ts';
import { conflict } from './errors.ts';

export type UpdateType = Exclude<keyof Update, 'update_id'>;

/** A bot receives these types unless it asks for others by name. */
const EXCLUDED_BY_DEFAULT: readonly UpdateType[] = ['message_reaction', 'message_reaction_count'];
const MAX_LIMIT = 100;
const MAX_TIMEOUT_SECONDS = 50;

export interface Poll {
  offset: number;
  limit: number | undefined;
  timeoutSeconds: number | undefined;
}

/** The updates that a bot has not received yet. They leave by getUpdates or by the webhook, never by both. */
export interface UpdateQueue {
  /** The types that the bot receives; undefined for the default. Setting it does not affect updates in the queue. */
  allowed: readonly UpdateType[] | undefined;
  readonly pending: readonly Update[];
  add(type: UpdateType, content: Partial<Update>): Update | undefined;
  remove(updateId: number): void;
  clear(): void;
  /**
   * Removes the updates below the offset, and returns the next ones. Waits for one if there are none. A second poll ends
   * the first with 409.
   */
  poll(poll: Poll, signal: AbortSignal): Promise<Update[]>;
  /** Ends a waiting poll with 409. */
  abortPoll(problem: string): void;
  /** Calls back when an update is added. */
  onAdd: (update: Update) => void;
}

export function createUpdateQueue(clock: Clock, firstId: number): UpdateQueue {
  let nextId = firstId;
  let pending: Update[] = [];
  let waiting: { wake: AbortController; problem?: string } | undefined;

  const queue: UpdateQueue = {
    allowed: undefined,
    onAdd: () => undefined,
    get pending() {
      return pending;
    },
    add(type, content) {
      const isAllowed = queue.allowed ? queue.allowed.includes(type) : !EXCLUDED_BY_DEFAULT.includes(type);
      if (!isAllowed) return undefined;
      const update: Update = { update_id: nextId++, ...content };
      pending.push(update);
      waiting?.wake.abort();
      queue.onAdd(update);
      return update;
    },
    remove(updateId) {
      pending = pending.filter(({ update_id }) => update_id !== updateId);
    },
    clear() {
      pending = [];
    },
    abortPoll(problem) {
      if (!waiting) return;
      waiting.problem = problem;
      waiting.wake.abort();
    },
    async poll({ offset, limit = MAX_LIMIT, timeoutSeconds = 0 }, signal) {
      queue.abortPoll(
        'terminated by other getUpdates request; make sure that only one bot instance is running',
      );
      // A negative offset counts from the end and forgets all earlier updates.
      if (offset < 0) pending = pending.slice(offset);
      else pending = pending.filter(({ update_id }) => update_id >= offset);
      const take = () => pending.slice(0, Math.min(Math.max(limit, 1), MAX_LIMIT));
      if (pending.length > 0 || timeoutSeconds <= 0) return take();
      const poll = { wake: new AbortController() } as NonNullable<typeof waiting>;
      waiting = poll;
      const wake = AbortSignal.any([poll.wake.signal, signal]);
      await wait(clock, Math.min(timeoutSeconds, MAX_TIMEOUT_SECONDS) * 1000, wake);
      if (waiting === poll) waiting = undefined;
      if (poll.problem !== undefined) throw conflict(poll.problem);
      return take();
    },
  };
  return queue;
}
