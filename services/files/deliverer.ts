import { type Clock, wait } from '../../lib/clock.ts';
import type { EventType } from '../../lib/events.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import { startRounds } from '../../lib/rounds.ts';
import type { FileEvent, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ChangeRow, Delivery, Feed } from './store/feed.ts';

export interface DelivererContext {
  feed: Feed;
  sessions: Pick<Client<SessionsServiceDefinition>, 'appendFileEvents'>;
  clock: Clock;
  log: Log;
}

const EVERY_MS = 1_000;
const BATCH = 500;
const AT_ONCE = 20;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export type Deliverer = ReturnType<typeof openDeliverer>;

/**
 * Tells sessions what has changed in their workspaces, until they know. They leave out what they were told before, and
 * what they are told always begins where the last success has ended, so it does not matter how many tell it.
 */
export function openDeliverer({ feed, sessions, clock, log }: DelivererContext) {
  const leaving = new AbortController();
  const { signal } = leaving;
  const running = new Map<string, Promise<void>>();
  /** One line for an outage, however long it lasts. */
  let failing = false;
  const rounds = startRounds({ clock, everyMs: EVERY_MS, work: sweep, onFailure: complain });

  /** After an outage many are due. What fails is due later, so that this ends. */
  async function sweep(): Promise<void> {
    for (let found = AT_ONCE; found === AT_ONCE && !signal.aborted; ) {
      const due = await feed.due(clock.now(), AT_ONCE);
      await Promise.all(due.map(deliver));
      found = due.length;
    }
  }

  /** Never fails: what did not succeed is done again later. */
  function deliver(delivery: Delivery): Promise<void> {
    const key = `${delivery.workspaceId} ${delivery.sessionId}`;
    const work =
      running.get(key) ??
      tell(delivery)
        .then(
          () => {
            failing = false;
          },
          (error: unknown) => postpone(delivery, error),
        )
        .finally(() => running.delete(key));
    running.set(key, work);
    return work;
  }

  async function tell(delivery: Delivery): Promise<void> {
    const { workspaceId, sessionId } = delivery;
    for (let from = delivery.toldSeq; !signal.aborted; ) {
      const rows = await feed.after(workspaceId, from, BATCH);
      const events = rows.filter((row) => row.sessionId === sessionId).flatMap(eventOf);
      const isGone =
        events.length > 0 && (await sessions.appendFileEvents({ sessionId, events }, { signal })).gone;
      if (isGone) return void (await feed.drop(delivery));
      from = rows.at(-1)?.seq ?? from;
      if (!(await feed.told(delivery, from, clock.now()))) return;
    }
  }

  async function postpone(delivery: Delivery, error: unknown): Promise<void> {
    if (signal.aborted) return;
    complain(error);
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(delivery.attempts, 16), LONGEST_PAUSE_MS);
    await feed.later(delivery, new Date(clock.now().getTime() + pause)).catch(complain);
  }

  function complain(error: unknown): void {
    if (!failing)
      log.warn({ err: error }, 'sessions were not told what changed in their workspaces, and will be');
    failing = true;
  }

  return {
    /** Tells what has just changed. Resolves when that is done, or takes longer than `patienceMs`. */
    async soon(workspaceId: string, sessionId: string, patienceMs: number): Promise<void> {
      const telling = (async () => {
        // Somebody may be telling it already, but of less.
        await running.get(`${workspaceId} ${sessionId}`);
        const delivery = await feed.delivery(workspaceId, sessionId);
        if (delivery) await deliver(delivery);
      })().catch(complain);
      const enough = new AbortController();
      await Promise.race([telling, wait(clock, patienceMs, enough.signal)]);
      enough.abort();
    },

    async stop(): Promise<void> {
      leaving.abort();
      await Promise.all([rounds.stop(), ...running.values()]);
    },
  };
}

/** A directory that was made is no event of its own: what is in it is. */
function eventOf(row: ChangeRow): FileEvent[] {
  if (row.kind !== 'deleted' && row.entryKind === 'directory') return [];
  const { seq, path, size, sha256, workspaceVersion, userId, createdAt } = row;
  const facts = row.kind === 'deleted' ? { path } : { path, size, sha256 };
  const dataJson = JSON.stringify({ ...facts, workspace_version: workspaceVersion });
  const type: EventType = `file.${row.kind}`;
  return [{ seq, type, dataJson, userId, createdAt }];
}
