import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { Bus } from '../../../../lib/bus/bus.ts';
import { type Clock, wait } from '../../../../lib/clock.ts';
import { type PeriodicTask, startPeriodicTask } from '../../../../lib/periodic-task.ts';
import type { FollowResponse } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  changedUris,
  changingTypes,
  resourcesBySession,
  type SubscribedResource,
} from './changed-resources.ts';
import { isNotFound } from './resource-error.ts';
import type { ResourceContext } from './resources.ts';
import { UpdatePace } from './update-pace.ts';

/** What a stream of changes is made of. */
export interface SubscriptionContext extends ResourceContext {
  clock: Clock;
  bus: Pick<Bus, 'subscribe'>;
  /** Aborts when the process stops. */
  draining: AbortSignal;
  /** A text that differs when the list of tools differs. */
  toolsFingerprint(): Promise<string>;
}

/** The sessions of one stream. Each has one follower, however many of its resources the stream names. */
const MAX_SESSIONS = 16;
const MAX_URIS = 256;
/** Hints can be lost, so tools and access are also checked without one. */
const CHECK_MS = 60_000;
/** The shortest time between two checks, however many agents change. */
const MIN_CHECK_MS = 2_000;

interface FollowedSession {
  sessionId: string;
  resources: SubscribedResource[];
  chunks: AsyncIterator<FollowResponse>;
  controller: AbortController;
}

/**
 * The source of the notifications of one `subscriptions/listen` stream. Resources that the caller cannot read are left out of
 * the message, so that the acknowledgement does not name them.
 */
export class Subscription implements ServerEventBus {
  /** The request as the library gets it. */
  readonly message: Record<string, unknown>;
  readonly #context: SubscriptionContext;
  readonly #followed: Set<FollowedSession>;
  /** Undefined: the stream does not report changes of tools. */
  #tools: string | undefined;
  #listener: ((event: ServerEvent) => void) | undefined;
  #pace: UpdatePace;
  #task: PeriodicTask | undefined;
  #unsubscribe: (() => void) | undefined;
  #end: () => void = () => {};

  private constructor(
    context: SubscriptionContext,
    message: Record<string, unknown>,
    followed: readonly FollowedSession[],
    tools: string | undefined,
  ) {
    this.#context = context;
    this.#followed = new Set(followed);
    this.#tools = tools;
    const kept = followed.flatMap(({ resources }) => resources.map(({ uri }) => uri));
    this.message = withResources(message, kept);
    this.#pace = new UpdatePace(context.clock, (uri) => this.#listener?.({ kind: 'resource_updated', uri }));
  }

  /** Follows the sessions of a request, so that no change after the acknowledgement is missed. */
  static async open(message: Record<string, unknown>, context: SubscriptionContext): Promise<Subscription> {
    const { resources, tools } = requestedChanges(message);
    const sessions = [...resourcesBySession(resources)].slice(0, MAX_SESSIONS);
    const [fingerprint, ...followed] = await Promise.all([
      tools ? context.toolsFingerprint() : undefined,
      ...sessions.map(([sessionId, ofSession]) => follow(context, sessionId, ofSession)),
    ]);
    const found = followed.filter((one) => one !== undefined);
    return new Subscription(context, message, found, fingerprint);
  }

  /** `end` ends the stream with its result. It is called when nothing is left to report and when the process stops. */
  endWith(end: () => void): void {
    this.#end = end;
  }

  /** Called by the library after the acknowledgement. The returned function is called when the stream ends. */
  subscribe(listener: (event: ServerEvent) => void): () => void {
    const { clock, bus, draining } = this.#context;
    this.#listener = listener;
    const drain = () => this.#end();
    draining.addEventListener('abort', drain);
    this.#task = startPeriodicTask({
      clock,
      everyMs: CHECK_MS,
      work: (signal) => this.#check(signal),
      // The next check repeats it.
      onFailure: () => {},
    });
    const stopHints = bus.subscribe('agents.changed', () => this.#task?.request());
    this.#unsubscribe = () => {
      draining.removeEventListener('abort', drain);
      stopHints();
    };
    for (const one of this.#followed) void this.#report(one);
    if (draining.aborted) queueMicrotask(drain);
    return () => this.close();
  }

  publish(): void {
    throw new Error('Only this stream knows its changes.');
  }

  /** Stops following. Needed if the library has refused the request. */
  close(): void {
    this.#listener = undefined;
    this.#unsubscribe?.();
    this.#pace.stop();
    void this.#task?.stop();
    for (const one of this.#followed) this.#stop(one);
  }

  get isOpen(): boolean {
    return this.#listener !== undefined;
  }

  /** Never rejects. */
  async #report(one: FollowedSession): Promise<void> {
    try {
      for (let next = await one.chunks.next(); !next.done; next = await one.chunks.next())
        for (const event of next.value.events)
          for (const uri of changedUris(one.resources, event)) this.#pace.note(uri);
    } catch {
      // The journal cannot be followed any longer. The client subscribes again and learns the reason.
      if (this.isOpen && this.#followed.has(one)) this.#end();
      return;
    }
    this.#leave(one);
  }

  /** A session was deleted or has become invisible: its resources have changed for the last time. */
  #leave(one: FollowedSession): void {
    if (!this.isOpen || !this.#followed.delete(one)) return;
    this.#stop(one);
    // Without a pause, because the stream may end now.
    for (const { uri } of one.resources) this.#listener?.({ kind: 'resource_updated', uri });
    if (this.#followed.size === 0 && this.#tools === undefined) this.#end();
  }

  #stop({ chunks, controller }: FollowedSession): void {
    controller.abort();
    chunks.return?.()?.catch(() => {});
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { clock, findSession, toolsFingerprint } = this.#context;
    await Promise.all(
      [...this.#followed].map(async (one) => {
        const isVisible = await findSession(one.sessionId).then(
          () => true,
          (error) => !isNotFound(error),
        );
        if (!isVisible) this.#leave(one);
      }),
    );
    if (this.#tools !== undefined) {
      const tools = await toolsFingerprint();
      if (tools !== this.#tools) this.#listener?.({ kind: 'tools_list_changed' });
      this.#tools = tools;
    }
    await wait(clock, MIN_CHECK_MS, signal);
  }
}

/** Returns undefined for a session that the caller cannot read. */
async function follow(
  { clients, call, findSession }: SubscriptionContext,
  sessionId: string,
  resources: SubscribedResource[],
): Promise<FollowedSession | undefined> {
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, ...(call.signal ? [call.signal] : [])]);
  try {
    await findSession(sessionId);
    const journal = { sessionId, afterSeq: 0, fromNow: true, types: changingTypes(resources) };
    const request = { ...journal, untilCaughtUp: false };
    const chunks = clients.sessions.follow(request, { ...call, signal })[Symbol.asyncIterator]();
    // The first chunk has the position from which changes are reported.
    await chunks.next();
    return { sessionId, resources, chunks, controller };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The changes that a request asks for. The library refuses a request of another form. */
function requestedChanges(message: Record<string, unknown>): { resources: string[]; tools: boolean } {
  const { notifications } = (message.params ?? {}) as { notifications?: Record<string, unknown> };
  const { resourceSubscriptions: uris, toolsListChanged: tools } = notifications ?? {};
  const resources = Array.isArray(uris)
    ? uris.filter((uri) => typeof uri === 'string').slice(0, MAX_URIS)
    : [];
  return { resources, tools: tools === true };
}

function withResources(message: Record<string, unknown>, uris: string[]): Record<string, unknown> {
  const params = message.params as { notifications?: Record<string, unknown> } | undefined;
  const requested = params?.notifications?.resourceSubscriptions;
  if (!Array.isArray(requested) || !requested.every((uri) => typeof uri === 'string')) return message;
  const notifications = { ...params?.notifications, resourceSubscriptions: uris };
  return { ...message, params: { ...params, notifications } };
}
