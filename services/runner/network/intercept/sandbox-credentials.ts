import { type HostAddress, matchesAnyHost } from '../../../../lib/host-patterns.ts';
import type { Interceptor } from '../../kernel/network/interceptor.ts';
import type { BoundHost, EgressCredentials } from './egress-credentials.ts';
import { interceptionProblem } from './host-binding.ts';
import type { KnownVariable } from './placeholders.ts';

interface SessionCredentials {
  credentials: EgressCredentials;
  /** Commands of the session that run in the sandbox. */
  commands: number;
}

/** Sessions that are remembered after their last command. Sessions of one agent can share a sandbox. */
const MAX_INACTIVE = 64;

/**
 * The credentials of the sessions that use a sandbox. They can be used while a command of the session runs. Hosts stay
 * bound and placeholders known afterwards, so that a placeholder that another session has found is refused.
 */
export class SandboxCredentials implements Pick<Interceptor, 'isBound' | 'boundNames' | 'refusal'> {
  readonly #sessions = new Map<string, SessionCredentials>();

  /** Lets the commands of a turn use its credentials until the result is disposed. */
  enter(credentials: EgressCredentials): Disposable {
    const { sessionId } = credentials;
    const session = { credentials, commands: (this.#sessions.get(sessionId)?.commands ?? 0) + 1 };
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    this.#forgetOldest();
    return {
      [Symbol.dispose]: () => {
        const current = this.#sessions.get(sessionId);
        if (current) current.commands--;
      },
    };
  }

  isBound(address: HostAddress): boolean {
    return matchesAnyHost(this.#entries(), address);
  }

  get boundNames(): readonly string[] {
    return this.#entries().filter((entry) => !entry.startsWith('*.'));
  }

  refusal(address: HostAddress, protocol: 'http' | 'connect'): string | undefined {
    return protocol === 'http'
      ? 'A host with a credential accepts https: only.'
      : interceptionProblem(address);
  }

  /** Returns the first bound host that matches, of the session whose command began last. */
  boundHost(address: HostAddress): { bound: BoundHost; credentials: EgressCredentials } | undefined {
    for (const { credentials, commands } of this.#newestFirst()) {
      const bound =
        commands > 0 ? credentials.hosts.find(({ host }) => matchesAnyHost([host], address)) : undefined;
      if (bound) return { bound, credentials };
    }
    return undefined;
  }

  variables(): KnownVariable[] {
    return this.#newestFirst().flatMap(({ credentials, commands }) =>
      credentials.variables.map((variable) => ({ variable, credentials, isActive: commands > 0 })),
    );
  }

  #newestFirst(): SessionCredentials[] {
    return [...this.#sessions.values()].reverse();
  }

  #entries(): string[] {
    return [...this.#sessions.values()].flatMap(({ credentials: { hosts, variables } }) => [
      ...hosts.map(({ host }) => host),
      ...variables.flatMap((variable) => variable.hosts),
    ]);
  }

  #forgetOldest(): void {
    const inactive = [...this.#sessions].filter(([, { commands }]) => commands === 0);
    for (const [sessionId] of inactive.slice(0, Math.max(0, inactive.length - MAX_INACTIVE)))
      this.#sessions.delete(sessionId);
  }
}
