import type { Clock } from '../../../../lib/clock.ts';
import { type EchoPattern, echoPatterns } from './echo-patterns.ts';
import type { EgressCredentials, EgressLending } from './egress-credentials.ts';

interface RecentSecret {
  credentials: EgressCredentials;
  patterns: readonly EchoPattern[];
  cancel(): void;
}

/** The secrets that the requests of a sandbox have carried, as long as they are lent, for the search in answers. */
export class RecentSecrets {
  readonly #clock: Clock;
  readonly #secrets = new Map<string, RecentSecret>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(host: string, credentials: EgressCredentials, lent: Extract<EgressLending, { kind: 'lent' }>): void {
    const { credentialId, headers = {}, value, usableUntil } = lent;
    const key = keyOf(credentialId, host);
    this.#secrets.get(key)?.cancel();
    const secrets = [...Object.values(headers), ...(value ? [value] : [])];
    const patterns = secrets.flatMap((secret) => echoPatterns({ credentialId, host }, secret));
    const cancel = this.#clock.after(Math.max(0, usableUntil - this.#clock.now().getTime()), () =>
      this.#secrets.delete(key),
    );
    this.#secrets.set(key, { credentials, patterns, cancel });
  }

  /** Those of the host come first, because several credentials can have one secret. */
  patternsFor(host: string): EchoPattern[] {
    const all = [...this.#secrets.values()].flatMap(({ patterns }) => patterns);
    return all.toSorted((one, other) => Number(other.host === host) - Number(one.host === host));
  }

  /** Records that an answer contained the secret of a credential that was lent for a host. */
  reportEcho({ credentialId, host }: Pick<EchoPattern, 'credentialId' | 'host'>): void {
    this.#secrets.get(keyOf(credentialId, host))?.credentials.reportEcho(credentialId, host);
  }

  clear(): void {
    for (const { cancel } of this.#secrets.values()) cancel();
    this.#secrets.clear();
  }
}

const keyOf = (credentialId: string, host: string): string => `${credentialId} ${host}`;
