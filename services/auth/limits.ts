import { subscriberOf } from '../../lib/addresses.ts';
import type { Budget, Counters } from '../../lib/bus/counters.ts';
import type { Clock } from '../../lib/clock.ts';
import { sha256 } from '../../lib/digest.ts';
import { Refusal, refuse } from '../../lib/errors.ts';
import type { Call } from '../../lib/grpc/contract.ts';
import type { Identities, Identity } from './identity.ts';

export interface LimitsContext {
  counters: Counters;
  clock: Clock;
  /** Of one user; 0: as many as they like. */
  requestsPerMinute: number;
  /** Of one source address: logins that begin, and credentials that let nobody in. 0: as many as they like. */
  loginsPerMinute: number;
}

interface Shown {
  bearer: string;
  login: string;
  /** From where in the network it comes. */
  address?: string | undefined;
  /** Asked for an answer that goes on: no new request. */
  again?: boolean | undefined;
}

const MINUTE_MS = 60_000;
/** Sources and credentials that are kept in mind; those that were not here for longest are forgotten first. */
const MAX_KEPT = 10_000;

export type Sources = ReturnType<typeof createSources>;

/** Where invented credentials come from is refused before anybody is asked about the next one. */
export function createSources({ counters, clock, loginsPerMinute }: LimitsContext) {
  const budget: Budget = { limit: loginsPerMinute, windowMs: MINUTE_MS };
  /** Until when nothing comes into the budget of a source, in Unix milliseconds. */
  const emptyUntil = new Map<string, number>();

  function refused(waitMs: number): Refusal {
    return tooMany('logins, and credentials that let nobody in, from one address', loginsPerMinute, waitMs);
  }

  return {
    /** Refused with RATE_LIMITED when a source is known to have nothing left. Takes nothing. */
    check(address = ''): void {
      if (emptyUntil.size === 0) return;
      const source = subscriberOf(address);
      const wait = (emptyUntil.get(source) ?? 0) - clock.now().getTime();
      if (wait > 0) throw refused(Math.min(wait, MINUTE_MS));
      emptyUntil.delete(source);
    },

    /** Takes one. Refused with RATE_LIMITED when there is none. */
    async take(address = ''): Promise<void> {
      if (loginsPerMinute === 0) return;
      const source = subscriberOf(address);
      const wait = await counters.take(`logins:${source}`, budget);
      if (wait === 0) return;
      keep(emptyUntil, source, clock.now().getTime() + wait);
      throw refused(wait);
    },
  };
}

/**
 * Identify, as far as it is allowed so often. Whoever shows what was good a moment ago is not held back by what others
 * do from the same address.
 */
export function limited(identify: Identities['identify'], context: LimitsContext, sources: Sources) {
  const { counters, requestsPerMinute, loginsPerMinute } = context;
  const budget: Budget = { limit: requestsPerMinute, windowMs: MINUTE_MS };
  const good = new Map<string, true>();

  async function known(shown: Shown, call: Call): Promise<Identity> {
    const credential = shown.bearer || shown.login;
    // Whoever shows nothing is told so: that costs nobody anything.
    if (loginsPerMinute === 0 || !credential) return identify(shown, call);
    const digest = sha256(credential);
    if (!good.has(digest)) sources.check(shown.address);
    try {
      const identity = await identify(shown, call);
      keep(good, digest, true);
      return identity;
    } catch (error) {
      if (!isNobody(error)) throw error;
      good.delete(digest);
      await sources.take(shown.address);
      throw error;
    }
  }

  return async (shown: Shown, call: Call): Promise<Identity> => {
    if (shown.again) return identify(shown, call);
    const identity = await known(shown, call);
    if (requestsPerMinute > 0) {
      const wait = await counters.take(`requests:${identity.user.userId}`, budget);
      if (wait > 0) throw tooMany('requests of one user', requestsPerMinute, wait);
    }
    return identity;
  };
}

function keep<Value>(kept: Map<string, Value>, key: string, value: Value): void {
  kept.delete(key);
  kept.set(key, value);
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value ?? key);
}

function isNobody(error: unknown): boolean {
  return error instanceof Refusal && (error.code === 'UNAUTHENTICATED' || error.code === 'TOKEN_EXPIRED');
}

function tooMany(what: string, limit: number, waitMs: number): Refusal {
  return refuse('RATE_LIMITED', `too many ${what}: ${limit} a minute`, {
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  });
}
