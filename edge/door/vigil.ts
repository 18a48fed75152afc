import type { ServerResponse } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { Refusal } from '../../lib/errors.ts';
import type { IdentifyResponse } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { Clients } from '../clients.ts';

/** How often each credential is asked for again. */
const EVERY_MS = 3_000;
/** They are not all asked for in the same moment. */
const SHARES = 12;
/** Who does not read what was written last is cut off. */
const LINGER_MS = 1_000;
/** As long as auth cannot be asked, or does not answer, nothing ends; but not for ever. */
const PATIENCE_MS = 30_000;

/** Those who came with the same credential, and were the same with it. */
export interface Watched {
  bearer: string;
  login: string;
  /** Who they were. */
  known: string;
  answers: Map<AbortController, ServerResponse>;
  /** When auth was last asked of those times when it said that it holds, in Unix milliseconds. */
  heldAt: number;
}

/**
 * Sees to it that no answer goes on for longer than the credential holds with which it was asked for. One timer serves
 * all of them, and those who share a credential share the question.
 */
export class Vigil {
  readonly #auth: Clients['auth'];
  readonly #clock: Clock;
  readonly #shares = Array.from({ length: SHARES }, () => new Set<Watched>());
  readonly #byKey = new Map<string, Watched>();
  #turn = 0;
  #added = 0;
  #cancel: (() => void) | undefined;

  constructor(auth: Clients['auth'], clock: Clock) {
    this.#auth = auth;
    this.#clock = clock;
  }

  /** Keeps an answer in mind until it leaves. It is aborted when its credential holds no more. */
  join(
    { bearer, login }: Pick<Watched, 'bearer' | 'login'>,
    identity: IdentifyResponse,
    controller: AbortController,
    response: ServerResponse,
  ): Watched {
    const known = portrait(identity);
    const key = `${bearer}\n${login}\n${known}`;
    let watched = this.#byKey.get(key);
    if (!watched) {
      watched = { bearer, login, known, answers: new Map(), heldAt: this.#now() };
      this.#byKey.set(key, watched);
      this.#shares[this.#added++ % SHARES]?.add(watched);
      this.#cancel ??= this.#wait();
    }
    // Whoever joins has just been asked for.
    watched.heldAt = this.#now();
    watched.answers.set(controller, response);
    return watched;
  }

  leave(watched: Watched, controller: AbortController): void {
    if (!watched.answers.delete(controller) || watched.answers.size > 0) return;
    this.#byKey.delete(`${watched.bearer}\n${watched.login}\n${watched.known}`);
    for (const share of this.#shares) share.delete(watched);
    if (this.#byKey.size === 0) this.stop();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(): () => void {
    return this.#clock.after(EVERY_MS / SHARES, () => {
      this.#cancel = this.#wait();
      this.#turn = (this.#turn + 1) % SHARES;
      for (const watched of this.#shares[this.#turn] ?? []) void this.#ask(watched);
    });
  }

  /** Never fails. */
  async #ask(watched: Watched): Promise<void> {
    if (!(await this.#holds(watched))) this.#end(watched);
  }

  async #holds(watched: Watched): Promise<boolean> {
    const { bearer, login } = watched;
    const askedAt = this.#now();
    try {
      const identity = await this.#auth.identify({ bearer, login, again: true });
      // Of one that has taken long, a later one may have been answered before.
      watched.heldAt = Math.max(watched.heldAt, askedAt);
      // Who may do something else now comes again, and is looked at anew.
      return portrait(identity) === watched.known;
    } catch (error) {
      return !isRefused(error) && this.#now() - watched.heldAt < PATIENCE_MS;
    }
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  #end({ answers }: Watched): void {
    for (const [controller, response] of [...answers]) {
      // An answer that has ended knows its connection no more.
      const { socket } = response;
      const heard = socket?.bytesRead;
      controller.abort();
      this.#clock.after(LINGER_MS, () => {
        // Who asks for something else has read this to its end.
        if (response.writableFinished && socket?.bytesRead !== heard) return;
        // What lies in the buffers of the system for somebody who reads slowly is not sent either.
        socket?.resetAndDestroy();
      });
    }
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof Refusal && (error.code === 'UNAUTHENTICATED' || error.code === 'TOKEN_EXPIRED');
}

/** What matters of who somebody is. */
function portrait({ user, scopes }: IdentifyResponse): string {
  return JSON.stringify([user?.userId, user?.roles, user?.groups, scopes]);
}
