import { type SessionInfo, WebSocketManager, WebSocketShardEvents } from '@discordjs/ws';
import type { Clock } from '../../../../lib/clock.ts';
import { DISCORD_INTENTS } from '../../../../lib/product-permissions.ts';
import type { EventReceiver } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { meaningOf } from './close-codes.ts';
import { DispatchQueue } from './dispatch-queue.ts';
import { connectionError, rateLimited } from './errors.ts';
import { isGatewayUrl } from './hosts.ts';
import type { RestApi } from './rest-api.ts';
import { readResumeState } from './resume-state.ts';

/** The library waits without a limit for the answer to a resume. */
const READY_MS = 60_000;
/** The code of a closure after which the session can be resumed. */
const KEEP_SESSION = 4200;
const INTENTS = Object.values(DISCORD_INTENTS).reduce((all, one) => all | one, 0);

interface GatewayInformation {
  url: string;
  shards: number;
  session_start_limit: { total: number; remaining: number; reset_after: number; max_concurrency: number };
}

/** A dispatch of the gateway. */
export interface GatewayEvent {
  t: string;
  s: number;
  d: unknown;
}

export interface GatewayOptions {
  api: RestApi;
  apiUrl: string;
  clock: Clock;
  applicationId: string;
  receiver: EventReceiver;
  /** Whether an event is committed. */
  isUsed(event: GatewayEvent): boolean;
  /** Called after the event was committed. */
  acknowledge(event: GatewayEvent): void;
}

/**
 * Holds one connection to the gateway until the signal aborts or the connection is lost. The worker opens the next one, which
 * resumes the session.
 */
export async function receiveDispatches(options: GatewayOptions, signal: AbortSignal): Promise<void> {
  const { api, apiUrl, clock, applicationId, receiver, isUsed, acknowledge } = options;
  const stored = readResumeState(receiver.resumeState, applicationId);
  const session = stored && isGatewayUrl(stored.resumeUrl, apiUrl) ? stored : undefined;
  const information = await readGateway(api, apiUrl, session !== undefined, signal);

  const ended = Promise.withResolvers<void>();
  let isEnded = false;
  let isOpen = false;
  /** No connection is made afterwards. */
  function end(error?: unknown): void {
    if (isEnded) return;
    isEnded = true;
    if (error === undefined) ended.resolve();
    else ended.reject(error);
  }
  const queue = new DispatchQueue({ receiver, applicationId, session, onError: end });
  let begun = Promise.resolve();

  const manager = new WebSocketManager({
    token: api.revealToken(),
    intents: INTENTS,
    rest: api.withGateway(information),
    shardCount: 1,
    shardIds: [0],
    // The library would connect again by itself, also after its end. It cannot without an answer to this question.
    retrieveSessionInfo: () => (isEnded ? new Promise<never>(() => {}) : infoOf(queue.session)),
    updateSessionInfo(_, info) {
      // The sequence moves when events are committed.
      if (isEnded || info === null || info.sessionId === queue.session?.sessionId) return;
      if (!isGatewayUrl(info.resumeURL, apiUrl)) return end(foreignGateway());
      const { sessionId, sequence, resumeURL: resumeUrl } = info;
      begun = queue.begin({ sessionId, sequence, resumeUrl });
    },
  });

  const cancelReadyLimit = clock.after(READY_MS, () =>
    end(new ProductError('unavailable', 'The gateway of Discord did not answer in time.')),
  );
  const ready = async () => {
    await begun;
    if (isEnded) return;
    cancelReadyLimit();
    receiver.connected();
  };
  manager.on(WebSocketShardEvents.Ready, ready);
  manager.on(WebSocketShardEvents.Resumed, ready);
  const opened = Promise.withResolvers<void>();
  manager.on(WebSocketShardEvents.Hello, () => {
    isOpen = true;
    opened.resolve();
  });
  manager.on(WebSocketShardEvents.SocketError, (error) => {
    end(isOpen ? undefined : connectionFailed(error));
    opened.resolve();
  });
  // The code of the closure says the same.
  manager.on(WebSocketShardEvents.Error, () => {});
  manager.on(WebSocketShardEvents.Closed, (code) => {
    isOpen = false;
    opened.resolve();
    const meaning = meaningOf(code);
    if ('error' in meaning) return end(meaning.error);
    if (meaning.canResume || isEnded) return end();
    queue.end();
    receiver.accept([], '').then(() => end(), end);
  });
  manager.on(WebSocketShardEvents.Dispatch, (event) => {
    if (!isUsed(event)) return queue.skip(event.s);
    const json = JSON.stringify({ t: event.t, d: event.d });
    queue.add({ sequence: event.s, json, acknowledge: () => acknowledge(event) });
  });

  const onAbort = () => end();
  signal.addEventListener('abort', onAbort, { once: true });
  manager.connect().catch((error: unknown) => end(connectionFailed(error)));
  try {
    if (signal.aborted) end();
    await ended.promise;
  } finally {
    isEnded = true;
    cancelReadyLimit();
    queue.end();
    signal.removeEventListener('abort', onAbort);
    // A connection that is being made can be closed only when it exists.
    const closed = opened.promise.then(() => isOpen && manager.destroy({ code: KEEP_SESSION }));
    closed.catch(() => {});
  }
}

async function readGateway(
  api: RestApi,
  apiUrl: string,
  isResumed: boolean,
  signal: AbortSignal,
): Promise<GatewayInformation> {
  const information = await api.request<GatewayInformation>('get', '/gateway/bot', {}, signal);
  if (!isGatewayUrl(information.url, apiUrl)) throw foreignGateway();
  const { session_start_limit: limit } = information;
  // A session that is resumed does not count.
  if (isResumed) return { ...information, session_start_limit: { ...limit, remaining: 1 } };
  if (limit.remaining > 0) return information;
  throw rateLimited(limit.reset_after);
}

function infoOf(session: DispatchQueue['session']): SessionInfo | null {
  if (!session) return null;
  const { sessionId, sequence, resumeUrl: resumeURL } = session;
  return { sessionId, sequence, resumeURL, shardId: 0, shardCount: 1 };
}

function foreignGateway(): ProductError {
  return new ProductError('unavailable', 'Discord named a gateway that is not one of Discord.');
}

function connectionFailed(error: unknown): ProductError {
  return new ProductError('unavailable', connectionError(error).message);
}
