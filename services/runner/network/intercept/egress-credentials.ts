import type { Secret } from '../../../../lib/secret.ts';

/** The credentials that commands of one turn may use through the proxy of their sandbox. They contain no secret. */
export interface EgressCredentials {
  readonly sessionId: string;
  /** The first one that matches a host counts. */
  readonly hosts: readonly BoundHost[];
  readonly variables: readonly BoundVariable[];
  /** Returns the secret for requests to this host. Secrets are used at once and not kept. */
  lend(need: EgressNeed): Promise<EgressLending>;
  /** Records that an answer of the host contained the secret. */
  reportEcho(credentialId: string, host: string): void;
}

/** A host whose requests get headers with a credential. */
export interface BoundHost {
  /** An entry of an allow list, see `readHostPattern`. */
  host: string;
  /** Names in lower case of the headers that the proxy sets. */
  headers: readonly string[];
}

/** An environment variable that holds a placeholder of a secret. */
export interface BoundVariable {
  name: string;
  /** Entries of an allow list. */
  hosts: readonly string[];
  placeholder: string;
  rules: VariableRules;
}

/** Where the placeholder is replaced. */
export interface VariableRules {
  /** Names in lower case. */
  headers: readonly string[];
  /** Also in the user name or password of Basic authentication. */
  basic: boolean;
  /** Names of query members. */
  query: readonly string[];
  /** In upper case. Empty: all methods. */
  methods: readonly string[];
  /** Empty: all paths. */
  pathPrefixes: readonly string[];
}

export interface EgressNeed {
  /** With :port unless it is 443. */
  host: string;
  /** Absent: the credential that the proxy attaches. */
  variable?: string;
}

export type EgressLending =
  /** `headers` for a bound host, `value` for a variable. */
  | {
      kind: 'lent';
      credentialId: string;
      headers?: Readonly<Record<string, Secret>>;
      value?: Secret;
      /** Milliseconds since the epoch. */
      usableUntil: number;
      /** Reports that the host has refused the credential, so that the next request has another one. Absent: there is none. */
      refused?(): void;
    }
  /** `reason` is a phrase that follows "The credential". `isTemporary`: a later request can succeed. */
  | { kind: 'missing'; reason: string; isTemporary: boolean };
