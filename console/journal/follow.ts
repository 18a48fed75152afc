import { createParser } from 'eventsource-parser';
import { API_BASE, ApiError } from '../api/client.ts';
import type { JournalEvent } from './event.ts';
import type { StreamStatus } from './view.ts';
import { onHidden, untilVisible } from './visibility.ts';

export interface StreamListener {
  /** Receives every event exactly once, in the order of `seq`. */
  onEvent(event: JournalEvent): void;
  onStatus(link: StreamStatus): void;
  /** The service returned an error that a retry cannot fix. The stream has ended. */
  onFailed(error: ApiError): void;
}

/**
 * The service sends a comment every 15 s. After this long without a byte the connection is treated as broken, because the
 * browser may not report it.
 */
const SILENCE_MS = 35_000;
const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 10_000;

/**
 * Streams the events of a session after `afterSeq` until `signal` aborts. It reconnects after every lost connection, and only
 * while the page is visible. Never rejects.
 */
export async function follow(
  sessionId: string,
  afterSeq: number,
  listener: StreamListener,
  signal: AbortSignal,
): Promise<void> {
  let seq = afterSeq;
  let failures = 0;
  for (;;) {
    await untilVisible(signal);
    if (signal.aborted) return;
    listener.onStatus(failures === 0 ? 'catching_up' : 'reconnecting');
    let wait = Math.min(MIN_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS);
    try {
      const end = await readStream(sessionId, seq, signal, {
        onEvent(event) {
          // A gap means that the connection lost events, so it is replaced.
          if (event.seq > seq + 1) throw new Error(`The stream skipped event ${seq + 1}.`);
          if (event.seq <= seq) return;
          seq = event.seq;
          listener.onEvent(event);
        },
        onCaughtUp() {
          failures = 0;
          listener.onStatus('live');
        },
      });
      if (end.reason === 'deleted') return listener.onStatus('ended');
      if (end.reason === 'hidden') continue;
      wait = end.waitMs ?? wait;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !error.retryable) {
        listener.onStatus('ended');
        return listener.onFailed(error);
      }
      if (error instanceof ApiError) wait = Math.max(wait, error.retryAfterMs ?? 0);
    }
    failures++;
    listener.onStatus('reconnecting');
    await pause(wait, signal);
  }
}

interface ConnectionHandlers {
  onEvent(event: JournalEvent): void;
  onCaughtUp(): void;
}

interface StreamEnd {
  /** The session is deleted, the page is hidden, or the service closed the connection. */
  reason: 'deleted' | 'hidden' | 'closed';
  /** Reconnect delay requested by the service, in milliseconds. */
  waitMs: number | undefined;
}

/** Reads one connection to its end. Rejects when the service returns an error and when the connection breaks. */
async function readStream(
  sessionId: string,
  seq: number,
  signal: AbortSignal,
  reader: ConnectionHandlers,
): Promise<StreamEnd> {
  const connection = new AbortController();
  const disconnect = () => connection.abort();
  let timer = setTimeout(disconnect, SILENCE_MS);
  // When the device loses its network, the connection is dropped at once instead of after the silence timeout.
  window.addEventListener('offline', disconnect);
  const end: StreamEnd = { reason: 'closed', waitMs: undefined };
  const stopObserving = onHidden(() => {
    end.reason = 'hidden';
    disconnect();
  });
  try {
    const response = await fetch(`${API_BASE}/sessions/${sessionId}/events/stream?after_seq=${seq}`, {
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any([signal, connection.signal]),
    });
    if (response.status === 204) return { reason: 'deleted', waitMs: undefined };
    if (!response.ok || !response.body)
      throw new ApiError(response.status, await response.json().catch(() => undefined));
    const parser = createParser({
      onEvent({ id, event, data }) {
        if (event === 'stream.caught_up') reader.onCaughtUp();
        else if (event === 'stream.draining') end.waitMs = reconnectDelayOf(data);
        else if (id) reader.onEvent(JSON.parse(data));
        if (event === 'session.deleted') end.reason = 'deleted';
      },
    });
    const text = new TextDecoder();
    const chunks = response.body.getReader();
    for (;;) {
      const { done, value } = await chunks.read();
      if (done) return end;
      clearTimeout(timer);
      timer = setTimeout(disconnect, SILENCE_MS);
      parser.feed(text.decode(value, { stream: true }));
    }
  } catch (error) {
    if (end.reason === 'hidden') return end;
    throw error;
  } finally {
    clearTimeout(timer);
    stopObserving();
    window.removeEventListener('offline', disconnect);
    disconnect();
  }
}

function reconnectDelayOf(data: string): number | undefined {
  const { reconnect_after_ms: wait } = JSON.parse(data) as { reconnect_after_ms?: number };
  return wait;
}

/** Resolves after the delay, when the network is back, or when `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      window.removeEventListener('online', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    // Jitter, so that clients disconnected together do not reconnect together.
    const timer = setTimeout(finish, ms * (0.75 + Math.random() / 2));
    window.addEventListener('online', finish);
    signal.addEventListener('abort', finish);
  });
}
