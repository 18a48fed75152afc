import type { Clock } from '../../../lib/clock.ts';
import { hostEgress, variableEgress } from '../../../lib/egress/session-egress.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { Environment } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type {
  GetSessionCredentialsResponse,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import type {
  EgressCredentials,
  EgressLending,
  EgressNeed,
} from '../network/intercept/egress-credentials.ts';
import type { CallingTurn, PendingToolCall } from '../tool-calls/tool-call.ts';
import type { LentCredential, LentCredentials, Need } from './lent-credentials.ts';

interface SessionEgressContext {
  vaults: Pick<Client<VaultsServiceDefinition>, 'getSessionCredentials' | 'reportEcho'>;
  lent: Pick<LentCredentials, 'lendFor' | 'refusedFor'>;
  clock: Clock;
  log: Log;
}

type Caller = Pick<PendingToolCall, 'turn' | 'signal'>;

const MAX_TURNS = 1_000;
/** A report about an answer is repeated by the next such answer, so it is not tried for long. */
const REPORT_MS = 5_000;
/** A program can cause refusals of a valid token in any number. The vaults service replaces no token of a lower age. */
const REFUSAL_INTERVAL_MS = 60_000;
const MAX_REFUSALS = 1_000;
const UNAUTHORIZED = 401;

/** Phrases that follow the name of a credential, by the reasons of the vaults service. */
const REASONS: Record<string, string> = {
  none: 'is not assigned to the agent any more',
  refused: 'was refused by its host',
  disabled: 'is disabled',
  vault_sealed: 'is in a vault that cannot be opened now',
};
const NOT_AVAILABLE = 'is not available now';

export type SessionEgress = ReturnType<typeof createSessionEgress>;

/** Finds the credentials that the commands of a turn can use through the proxy of their sandbox. */
export function createSessionEgress({ vaults, lent, clock, log }: SessionEgressContext) {
  /** What a turn has found at its first command stays for the turn. */
  const turns = new LruCache<string, Promise<GetSessionCredentialsResponse | undefined>>(MAX_TURNS);

  /** When a host has last refused a token, in milliseconds since the epoch, by credential and generation. */
  const refusals = new LruCache<string, number>(MAX_REFUSALS);

  /** Without an answer, the turn's commands run without credentials. Rejects with LEASE_LOST. */
  async function ask({ turn, signal }: Caller): Promise<GetSessionCredentialsResponse | undefined> {
    const { lease, trace } = turn;
    try {
      return await vaults.getSessionCredentials({ lease }, { signal, trace });
    } catch (error) {
      if (signal.aborted || (error instanceof Refusal && error.code === 'LEASE_LOST')) throw error;
      log.warn({ err: error }, 'the credentials of a session are unknown; its command runs without them');
      return undefined;
    }
  }

  function find(caller: Caller): Promise<GetSessionCredentialsResponse | undefined> {
    const { turnId, fence } = caller.turn.lease;
    const key = `${turnId} ${fence}`;
    const known = turns.get(key);
    if (known !== undefined) return known;
    const found = ask(caller);
    turns.set(key, found);
    const forget = () => turns.delete(key);
    found.then((answer) => answer ?? forget(), forget);
    return found;
  }

  async function lend(turn: CallingTurn, { host, variable }: EgressNeed): Promise<EgressLending> {
    const target: Need =
      variable === undefined
        ? { $case: 'host', value: host }
        : { $case: 'variable', value: { name: variable, host } };
    try {
      const lending = await lent.lendFor(turn, target);
      if (lending.kind === 'lent') {
        const { lent: one } = lending;
        return {
          kind: 'lent',
          ...one,
          ...(one.refreshable && { refused: () => reportRefusal(turn, target, one) }),
        };
      }
      const { reason } = lending.missing;
      const isTemporary = reason === 'vault_sealed';
      return { kind: 'missing', reason: REASONS[reason] ?? NOT_AVAILABLE, isTemporary };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const reason = error.code === 'CREDENTIAL_NOT_FOUND' ? REASONS.none : undefined;
      if (reason !== undefined) return { kind: 'missing', reason, isTemporary: false };
      if (error.code === 'LEASE_LOST')
        return { kind: 'missing', reason: 'works only while a turn of its session runs', isTemporary: false };
      return { kind: 'missing', reason: NOT_AVAILABLE, isTemporary: true };
    }
  }

  /** The next request of the turn to the host waits for the result, and uses the new token. */
  function reportRefusal(turn: CallingTurn, target: Need, refused: LentCredential): void {
    const { credentialId: credential_id, generation } = refused;
    const key = `${credential_id} ${generation}`;
    const now = clock.now().getTime();
    if (now - (refusals.get(key) ?? Number.NEGATIVE_INFINITY) < REFUSAL_INTERVAL_MS) return;
    refusals.set(key, now);
    lent
      .refusedFor(turn, target, refused, { httpStatus: UNAUTHORIZED, challenge: '' })
      .catch((error: unknown) => {
        refusals.delete(key);
        log.warn({ err: error, credential_id }, 'a refused token of a sandbox could not be reported');
      });
  }

  function reportEcho({ lease, trace }: CallingTurn, credentialId: string, host: string): void {
    const deadline = clock.now().getTime() + REPORT_MS;
    vaults
      .reportEcho({ lease, credentialId, host }, { trace, deadline })
      .catch((error: unknown) =>
        log.warn(
          { err: error, credential_id: credentialId, host },
          'an answer with a credential was not audited',
        ),
      );
  }

  return {
    /** Returns undefined when there are none. Rejects with LEASE_LOST. */
    async credentialsOf(caller: Caller, { spec }: Environment): Promise<EgressCredentials | undefined> {
      const { mode = '', allowedHosts = [] } = spec?.network ?? {};
      if (mode !== 'limited') return undefined;
      const found = await find(caller);
      if (!found) return undefined;
      const environment = { networkMode: mode, allowedHosts, variables: Object.keys(spec?.variables ?? {}) };
      const hosts = found.hosts.flatMap((bound) =>
        hostEgress(bound, environment).hosts.map((host) => ({ host, headers: bound.headers })),
      );
      const variables = found.variables.flatMap(({ rules, ...variable }) => {
        const egress = variableEgress(variable, environment);
        if (egress.state !== 'ready' || variable.placeholder === '') return [];
        const { inject, methods = [], pathPrefixes = [] } = rules ?? {};
        const { headers = [], basic = false, query = [] } = inject ?? {};
        const { name, placeholder } = variable;
        return [
          { name, placeholder, hosts: egress.hosts, rules: { headers, basic, query, methods, pathPrefixes } },
        ];
      });
      if (hosts.length + variables.length === 0) return undefined;
      const { turn } = caller;
      return {
        sessionId: turn.lease.sessionId,
        hosts,
        variables,
        lend: (need) => lend(turn, need),
        reportEcho: (credentialId, host) => reportEcho(turn, credentialId, host),
      };
    },
  };
}
