import type { Bus } from '../../../lib/bus/bus.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { type PeerSealer, secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import type { Ids } from '../../../lib/ids.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { McpError } from '../../../lib/mcp/open.ts';
import type { Secret } from '../../../lib/secret.ts';
import {
  type CredentialNeed,
  type LendResult,
  type MissingCredential,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { CallingTurn } from '../tool-calls/tool-call.ts';

export type VaultsClient = Pick<Client<VaultsServiceDefinition>, 'lend' | 'reportRefusal'>;

export interface LentCredential {
  credentialId: string;
  generation: number;
  /** shared | personal */
  source: string;
  /** An access token that the report of a refusal can replace. */
  refreshable: boolean;
  /** Headers by name. Empty for a variable and a model provider. */
  headers: Readonly<Record<string, Secret>>;
  /** The value of a variable, or a model key. */
  value?: Secret | undefined;
  /** Milliseconds since the epoch. */
  usableUntil: number;
}

export type Lending =
  | { kind: 'lent'; lent: LentCredential }
  | { kind: 'missing'; missing: MissingCredential };

interface LendingContext {
  vaults: VaultsClient;
  sealer: PeerSealer;
  bus: Bus;
  clock: Clock;
  ids: Ids;
}

export type Need = NonNullable<CredentialNeed['target']>;

type Turn = Pick<CallingTurn, 'lease' | 'trace'>;

/** An answer that refuses a credential. */
type RefusingAnswer = Pick<McpError, 'httpStatus' | 'challenge'>;

const MAX_LENDINGS = 10_000;
/** A credential is not used in the last moments of its time, because the request takes time. */
const MARGIN_MS = 5_000;

export type LentCredentials = ReturnType<typeof createLentCredentials>;

/**
 * Borrows credentials for turns. They stay in memory until their time is over, or until a hint says that credentials have
 * changed. Rejects with refusals of the vaults service.
 */
export function createLentCredentials({ vaults, sealer, bus, clock, ids }: LendingContext) {
  const lendings = new LruCache<string, Promise<Lending>>(MAX_LENDINGS);
  /** The timers that hold the secrets of the lendings. */
  const timers = new Set<() => void>();
  const unsubscribe = bus.subscribe('credentials.changed', forgetAll);

  function forgetAll(): void {
    for (const cancel of timers) cancel();
    timers.clear();
    lendings.clear();
  }

  function open(
    result: LendResult | undefined,
    method: 'lend' | 'reportRefusal',
    requestId: string,
  ): Lending {
    const { result: answer } = result ?? {};
    if (answer?.$case === 'missing') return { kind: 'missing', missing: answer.value };
    if (answer?.$case !== 'lent') throw new Error('the vaults service returned no result for a credential');
    const { credentialId, generation, source, refreshable, usableUntil, headers, value } = answer.value;
    const call = { contract: VaultsServiceDefinition, method, peer: 'vaults', requestId };
    const lent = {
      ...{ credentialId, generation, source, refreshable },
      usableUntil: usableUntil?.getTime() ?? 0,
    };
    if (!value) return { kind: 'lent', lent: { ...lent, headers: secretsIn(sealer.open(headers, call)) } };
    const { value: secret } = secretsIn(sealer.open(value, call));
    return { kind: 'lent', lent: { ...lent, headers: {}, value: secret } };
  }

  const serverNeed = (mcpServerId: string): Need => ({ $case: 'mcpServerId', value: mcpServerId });
  const keyOf = ({ lease }: Turn, need: Need) => `${lease.turnId} ${lease.fence} ${JSON.stringify(need)}`;

  /** Concurrent calls share a request. A missing credential can be there a moment later, so it is not kept. */
  function keep(key: string, lending: Promise<Lending>): Promise<Lending> {
    lendings.set(key, lending);
    const forget = () => {
      if (lendings.peek(key) === lending) lendings.delete(key);
    };
    lending.then((end) => (end.kind === 'lent' ? forgetAt(end.lent.usableUntil, forget) : forget()), forget);
    return lending;
  }

  /** A secret leaves the memory when its time is over. */
  function forgetAt(time: number, forget: () => void): void {
    const cancel = clock.after(Math.max(0, time - clock.now().getTime()), () => {
      timers.delete(cancel);
      forget();
    });
    timers.add(cancel);
  }

  async function known(turn: Turn, need: Need): Promise<Lending | undefined> {
    const lending = await lendings.get(keyOf(turn, need));
    if (lending?.kind !== 'lent') return undefined;
    return clock.now().getTime() < lending.lent.usableUntil - MARGIN_MS ? lending : undefined;
  }

  async function lendFor(turn: Turn, target: Need): Promise<Lending> {
    const usable = await known(turn, target);
    if (usable) return usable;
    const requestId = ids('req');
    const { lease, trace } = turn;
    const request = { lease, needs: [{ target }] };
    return keep(
      keyOf(turn, target),
      vaults.lend(request, { trace, requestId }).then(({ results }) => open(results[0], 'lend', requestId)),
    );
  }

  async function refusedFor(
    turn: Turn,
    need: Need,
    { credentialId, generation }: LentCredential,
    { httpStatus, challenge }: RefusingAnswer,
  ): Promise<Lending> {
    const requestId = ids('req');
    const { lease, trace } = turn;
    const refusal = { credentialId, generation, status: httpStatus ?? 0, wwwAuthenticate: challenge };
    const request = { lease, need: { target: need }, ...refusal };
    return keep(
      keyOf(turn, need),
      vaults
        .reportRefusal(request, { trace, requestId })
        .then(({ result }) => open(result, 'reportRefusal', requestId)),
    );
  }

  return {
    /** The credential of the turn for any need. */
    lendFor,

    /** The credential of the turn for a server. */
    lend: (turn: Turn, mcpServerId: string) => lendFor(turn, serverNeed(mcpServerId)),

    /** The credential that the turn has for a server and may use now. */
    known: (turn: Turn, mcpServerId: string) => known(turn, serverNeed(mcpServerId)),

    /** Reports that the receiver of a credential has refused it, and returns the one that counts now. */
    refusedFor,

    /** Reports the answer with which the server has refused a credential, and returns the one that counts now. */
    refused: (turn: Turn, mcpServerId: string, lent: LentCredential, refusal: RefusingAnswer) =>
      refusedFor(turn, serverNeed(mcpServerId), lent, refusal),

    /** The server has refused the credential again, so the next call asks for one. */
    drop(turn: Turn, mcpServerId: string): void {
      lendings.delete(keyOf(turn, serverNeed(mcpServerId)));
    },

    close(): void {
      unsubscribe();
      forgetAll();
    },
  };
}
