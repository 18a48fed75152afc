import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { sha256 } from '../../lib/digest.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import { LruCache } from '../../lib/lru.ts';
import type { IdentifyResponse } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { Clients } from '../clients.ts';
import type { Credential } from './credential.ts';

/** Maximum number of credentials in memory. The least recently used are dropped first. */
const MAX_ENTRIES = 1_000;

interface Entry {
  identity: IdentifyResponse;
  /** When the call of Identify began, in milliseconds since the epoch. */
  calledAt: number;
  validForMs: number;
}

/**
 * Identifies credentials with the auth service. Uses a response again for as long as auth permits, at most a second after
 * auth has read the credential and its user, and forgets all responses at each hint that one of them may have changed.
 */
export class IdentityCache {
  readonly #auth: Clients['auth'];
  readonly #clock: Clock;
  /** By digest, because memory should not contain more copies of credentials than necessary. */
  readonly #entries = new LruCache<string, Entry>(MAX_ENTRIES);
  readonly #unsubscribe: (() => void)[];
  /** Counts the hints. A response to a call that began before a hint is not kept. */
  #hints = 0;

  constructor(auth: Clients['auth'], bus: Pick<Bus, 'subscribe'>, clock: Clock) {
    this.#auth = auth;
    this.#clock = clock;
    const forget = () => {
      this.#hints++;
      this.#entries.clear();
    };
    this.#unsubscribe = [bus.subscribe('users.changed', forget), bus.subscribe('credentials.ended', forget)];
  }

  /** Rejects like Identify. `address` is the address of the client, for rate limits. */
  async identify(
    { bearer, login, resource }: Credential,
    address: string | undefined,
    options: CallOptions,
  ): Promise<IdentifyResponse> {
    // An access token that is valid for one resource may be invalid for another one.
    const key = sha256(bearer === undefined ? `login ${login}` : `bearer ${bearer} ${resource ?? ''}`);
    const calledAt = this.#clock.now().getTime();
    const known = this.#entries.get(key);
    if (known && isValid(known, calledAt)) return known.identity;
    const hints = this.#hints;
    const identity = await this.#auth.identify({ bearer: bearer ?? '', login, resource, address }, options);
    const { validForMs } = identity;
    if (validForMs !== undefined && hints === this.#hints)
      this.#entries.set(key, { identity, calledAt, validForMs });
    return identity;
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }
}

/** When the clock was set back, the age of the entry is unknown. */
function isValid({ calledAt, validForMs }: Entry, now: number): boolean {
  return now >= calledAt && now < calledAt + validForMs;
}
