import { createParser } from 'eventsource-parser';
import { API, ApiError } from '../api/client.ts';
import { seen, whenUnseen } from './attention.ts';
import { asJournalEvent, type JournalEvent } from './event.ts';
import type { Link } from './view.ts';

export interface Follower {
  /** In the order of their seq, each once, none left out. */
  onEvent(event: JournalEvent): void;
  onLink(link: Link): void;
  /** The service has refused to go on. */
  onRefused(error: ApiError): void;
}

/** A comment comes every 15 s: after this long without a byte the line is dead, whatever the browser believes. */
const SILENCE_MS = 35_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/**
 * Follows a session from behind `afterSeq` until `signal` aborts, over every break of the line, as long as somebody sees the
 * page. Never fails.
 */
export async function follow(
  sessionId: string,
  afterSeq: number,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let seq = afterSeq;
  let failures = 0;
  for (;;) {
    await seen(signal);
    if (signal.aborted) return;
    follower.onLink(failures === 0 ? 'catching_up' : 'reconnecting');
    let wait = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS);
    try {
      const end = await read(sessionId, seq, signal, {
        onEvent(event) {
          // What is left out was not read in order: this connection is not to be believed.
          if (event.seq > seq + 1) throw new Error(`event ${seq + 1} is missing`);
          if (event.seq <= seq) return;
          seq = event.seq;
          follower.onEvent(event);
        },
        onCaughtUp() {
          failures = 0;
          follower.onLink('live');
        },
      });
      if (end.how === 'over') return follower.onLink('ended');
      if (end.how === 'unseen') continue;
      wait = end.waitMs ?? wait;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !error.retryable) {
        follower.onLink('ended');
        return follower.onRefused(error);
      }
      if (error instanceof ApiError) wait = Math.max(wait, error.retryAfterMs ?? 0);
    }
    failures++;
    follower.onLink('reconnecting');
    await pause(wait, signal);
  }
}

interface Reader {
  onEvent(event: JournalEvent): void;
  onCaughtUp(): void;
}

interface End {
  /** The session is gone, and nothing comes any more; nobody sees the page; or the service has ended it. */
  how: 'over' | 'unseen' | 'ended';
  /** As long as the service has asked for. */
  waitMs: number | undefined;
}

/** One connection, to its end. Fails when it is refused, and when it breaks. */
async function read(sessionId: string, seq: number, signal: AbortSignal, reader: Reader): Promise<End> {
  const line = new AbortController();
  const cut = () => line.abort();
  let timer = setTimeout(cut, SILENCE_MS);
  // A laptop that wakes up elsewhere hears of it at once.
  window.addEventListener('offline', cut);
  const end: End = { how: 'ended', waitMs: undefined };
  const stopLooking = whenUnseen(() => {
    end.how = 'unseen';
    cut();
  });
  try {
    const answer = await fetch(`${API}/sessions/${sessionId}/events/stream?after_seq=${seq}`, {
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any([signal, line.signal]),
    });
    if (answer.status === 204) return { how: 'over', waitMs: undefined };
    if (!answer.ok || !answer.body)
      throw new ApiError(answer.status, await answer.json().catch(() => undefined));
    const parser = createParser({
      onEvent({ id, event, data }) {
        if (event === 'stream.caught_up') reader.onCaughtUp();
        else if (event === 'stream.draining') end.waitMs = waitOf(data);
        else if (id) reader.onEvent(asJournalEvent(JSON.parse(data)));
        if (event === 'session.deleted') end.how = 'over';
      },
    });
    const text = new TextDecoder();
    const chunks = answer.body.getReader();
    for (;;) {
      const { done, value } = await chunks.read();
      if (done) return end;
      clearTimeout(timer);
      timer = setTimeout(cut, SILENCE_MS);
      parser.feed(text.decode(value, { stream: true }));
    }
  } catch (error) {
    if (end.how === 'unseen') return end;
    throw error;
  } finally {
    clearTimeout(timer);
    stopLooking();
    window.removeEventListener('offline', cut);
    cut();
  }
}

function waitOf(data: string): number | undefined {
  const { reconnect_after_ms: wait } = JSON.parse(data) as { reconnect_after_ms?: number };
  return wait;
}

/** Until the time is over, the network is back, or nobody waits any more. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      window.removeEventListener('online', over);
      signal.removeEventListener('abort', over);
      resolve();
    };
    // Many who were cut off at once do not come back at once.
    const timer = setTimeout(over, ms * (0.75 + Math.random() / 2));
    window.addEventListener('online', over);
    signal.addEventListener('abort', over);
  });
}
