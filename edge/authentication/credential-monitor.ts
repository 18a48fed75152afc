import type { ServerResponse } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { Refusal } from '../../lib/errors.ts';
import type { IdentifyResponse } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { Clients } from '../clients.ts';

/** Each credential is checked again at this interval. */
const CHECK_INTERVAL_MS = 3_000;
/** A check that auth has not answered by then is given up, and the next one is made at the next interval. */
const CHECK_TIMEOUT_MS = 10_000;
/** Credentials are spread over this many groups, so that the checks are spread over the interval. */
const GROUPS = 12;
/** The connection of an ended response is reset after this long if the client has not read the rest. */
const LINGER_MS = 1_000;
/** Responses continue for at most this long while auth is unreachable. */
const MAX_UNVERIFIED_MS = 30_000;

/** All open responses that were requested with the same credential for the same resource by the same identity. */
export interface MonitoredCredential {
  bearer: string;
  login: string;
  resource: string | undefined;
  /** The fingerprint of the identity when the responses began. */
  identity: string;
  responses: Map<AbortController, ServerResponse>;
  /** When the most recent successful check began, in Unix milliseconds. */
  verifiedAt: number;
  /** A check is open. */
  checking: boolean;
}

/**
 * Ends long-lived responses whose credential is no longer valid. One timer serves all responses, and responses with the
 * same credential share one check. Checks of the same credential never overlap.
 */
export class CredentialMonitor {
  readonly #auth: Clients['auth'];
  readonly #clock: Clock;
  readonly #groups = Array.from({ length: GROUPS }, () => new Set<MonitoredCredential>());
  readonly #byKey = new Map<string, MonitoredCredential>();
  #current = 0;
  #added = 0;
  #cancel: (() => void) | undefined;

  constructor(auth: Clients['auth'], clock: Clock) {
    this.#auth = auth;
    this.#clock = clock;
  }

  /** Monitors a response until `remove`. The controller is aborted when the credential becomes invalid. */
  add(
    credential: Pick<MonitoredCredential, 'bearer' | 'login' | 'resource'>,
    identified: IdentifyResponse,
    controller: AbortController,
    response: ServerResponse,
  ): MonitoredCredential {
    const identity = identityFingerprint(identified);
    const key = keyOf({ ...credential, identity });
    let monitored = this.#byKey.get(key);
    if (!monitored) {
      const responses = new Map();
      monitored = { ...credential, identity, responses, verifiedAt: this.#now(), checking: false };
      this.#byKey.set(key, monitored);
      this.#groups[this.#added++ % GROUPS]?.add(monitored);
      this.#cancel ??= this.#schedule();
    }
    // The credential of the request that adds the response was verified within the last second.
    monitored.verifiedAt = this.#now();
    monitored.responses.set(controller, response);
    return monitored;
  }

  remove(monitored: MonitoredCredential, controller: AbortController): void {
    if (!monitored.responses.delete(controller) || monitored.responses.size > 0) return;
    this.#byKey.delete(keyOf(monitored));
    for (const group of this.#groups) group.delete(monitored);
    if (this.#byKey.size === 0) this.stop();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #schedule(): () => void {
    return this.#clock.after(CHECK_INTERVAL_MS / GROUPS, () => {
      this.#cancel = this.#schedule();
      this.#current = (this.#current + 1) % GROUPS;
      for (const monitored of this.#groups[this.#current] ?? []) void this.#check(monitored);
    });
  }

  /** Never rejects. */
  async #check(monitored: MonitoredCredential): Promise<void> {
    if (monitored.checking) {
      // A check that auth does not answer must not keep the responses open beyond the limit.
      if (this.#isExpired(monitored)) this.#end(monitored);
      return;
    }
    monitored.checking = true;
    const valid = await this.#isValid(monitored);
    monitored.checking = false;
    if (!valid) this.#end(monitored);
  }

  async #isValid(monitored: MonitoredCredential): Promise<boolean> {
    const { bearer, login, resource } = monitored;
    const startedAt = this.#now();
    try {
      const deadline = startedAt + CHECK_TIMEOUT_MS;
      const identified = await this.#auth.identify({ bearer, login, resource, again: true }, { deadline });
      // A response that was added during this check has verified the credential more recently.
      monitored.verifiedAt = Math.max(monitored.verifiedAt, startedAt);
      // A client whose permissions have changed reconnects and is authorized again.
      return identityFingerprint(identified) === monitored.identity;
    } catch (error) {
      return !isRejected(error) && !this.#isExpired(monitored);
    }
  }

  #isExpired({ verifiedAt }: MonitoredCredential): boolean {
    return this.#now() - verifiedAt >= MAX_UNVERIFIED_MS;
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  #end({ responses }: MonitoredCredential): void {
    for (const [controller, response] of [...responses]) {
      // A response that has ended no longer refers to its socket.
      const { socket } = response;
      // The connection ends with the response, so that the client sends no request on a connection that is about to be reset.
      response.once('finish', () => socket?.end());
      controller.abort();
      // The reset discards data in the buffers of the operating system that a slow client has not read.
      this.#clock.after(LINGER_MS, () => socket?.resetAndDestroy());
    }
  }
}

function isRejected(error: unknown): boolean {
  return error instanceof Refusal && (error.code === 'UNAUTHENTICATED' || error.code === 'TOKEN_EXPIRED');
}

type CredentialKey = Pick<MonitoredCredential, 'bearer' | 'login' | 'resource' | 'identity'>;

const keyOf = ({ bearer, login, resource = '', identity }: CredentialKey) =>
  [bearer, login, resource, identity].join('\n');

/** The parts of an identity that decide what it may do. */
function identityFingerprint({ user, scopes }: IdentifyResponse): string {
  return JSON.stringify([user?.userId, user?.roles, user?.groups, scopes]);
}
