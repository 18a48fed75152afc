import type { Clock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { SecretContent } from '../domain/credential-headers.ts';
import { type CredentialSource, isAbsent, type MissingCredential } from '../domain/lending.ts';
import type { LendingStore } from '../store/lendings.ts';
import type { LendingAudit } from './audit.ts';
import type { ServerRefusals } from './server-refusals.ts';
import type { LeasedTurn, TurnAccess } from './turn-access.ts';
import { CHANGED, type TurnCredentials } from './turn-credentials.ts';
import type { NamedUse } from './turn-need.ts';
import type { UseRecorder } from './use-recorder.ts';

/** Lent copies end after this time. */
const USABLE_MS = 60_000;

interface LenderContext {
  access: TurnAccess;
  credentials: TurnCredentials;
  recorder: UseRecorder;
  lendings: LendingStore;
  audit: LendingAudit;
  refusals: ServerRefusals;
  clock: Clock;
}

/** A credential that a runner may use until a time. */
interface LentCredential {
  credentialId: string;
  generation: number;
  source: CredentialSource;
  /** An access token, which a refusal of its receiver can replace. */
  refreshable: boolean;
  /** It contains the secret. */
  content: SecretContent;
  usableUntil: Date;
}

export type LendingResult =
  | { kind: 'lent'; lent: LentCredential }
  | { kind: 'missing'; missing: MissingCredential };

/** A server's answer to a request with a lent credential. */
export interface ServerRefusal {
  use: NamedUse;
  credentialId: string;
  generation: number;
  /** The HTTP status. */
  status: number;
  /** The header WWW-Authenticate. Empty: none. */
  wwwAuthenticate: string;
}

export type Lender = ReturnType<typeof createLender>;

/** Lends credentials to turns. A lending is audited, then journaled, then returned. */
export function createLender(context: LenderContext) {
  const { access, credentials, recorder, lendings, audit, refusals, clock } = context;

  /** Opens the credentials of uses, and records and journals the uses before it returns them. */
  async function lendTo(turn: LeasedTurn, named: readonly NamedUse[], call: Call): Promise<LendingResult[]> {
    const { needs, opened } = await open(turn, named, call);
    const uses = opened.flatMap((one, index) => {
      const host = needs[index]?.host;
      return one.kind === 'opened' && host !== undefined ? [{ ...one.credential, host }] : [];
    });
    if (uses.length > 0) {
      await Promise.all(uses.map((use) => recorder.record(use, turn, call)));
      await lendings.markUsed(uses, clock.now(), call);
    }
    const latest = clock.now().getTime() + USABLE_MS;
    return opened.map((one): LendingResult => {
      if (one.kind === 'missing') return one;
      const { source, credential, content } = one;
      const { credentialId, generation, expiresAt, publicMembers } = credential;
      const refreshable = publicMembers?.$case === 'oauth';
      const usableUntil = new Date(Math.min(latest, expiresAt?.getTime() ?? latest));
      return { kind: 'lent', lent: { credentialId, generation, source, refreshable, content, usableUntil } };
    });
  }

  /** Returns the credential of each use. Refused with CREDENTIAL_NOT_FOUND for a host or variable without one. */
  async function choose(turn: LeasedTurn, uses: readonly NamedUse[], call: Call) {
    const needs = await Promise.all(uses.map((use) => access.requireNeed(turn, use, call)));
    const choices = await credentials.choose(turn, needs, call);
    const unknown = uses.find(
      ({ kind }, index) => isOfSandbox(kind) && choices[index] !== undefined && isAbsent(choices[index]),
    );
    if (unknown) await access.refuseUse(turn, unknown, call);
    return { needs, choices };
  }

  async function requireLent(
    turn: LeasedTurn,
    credentialId: string,
    host: string,
    call: Call,
  ): Promise<void> {
    if (await lendings.isRecorded({ turnId: turn.turnId, credentialId, host }, call)) return;
    const targetId = isId('crd', credentialId) ? credentialId : '';
    await audit.recordRefusal({ targetId, reason: 'credential_not_lent', origin: turn }, call);
    throw refuse('CREDENTIAL_NOT_FOUND', 'The turn did not get this credential for this use.');
  }

  /** Opens the credential of each use. A credential with a newer access token is read again. */
  async function open(turn: LeasedTurn, uses: readonly NamedUse[], call: Call) {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { needs, choices } = await choose(turn, uses, call);
      const results = await Promise.all(choices.map((choice) => credentials.open(choice, call)));
      const opened = results.filter((result) => result !== CHANGED);
      if (opened.length === results.length) return { needs, opened };
    }
    throw refuse('DEPENDENCY_UNAVAILABLE', 'A credential changes too often to be used.');
  }

  return {
    /** Returns one result for each use. Refused with LEASE_LOST, MCP_SERVER_NOT_FOUND and CREDENTIAL_NOT_FOUND. */
    async lend(lease: Lease | undefined, uses: readonly NamedUse[], call: Call): Promise<LendingResult[]> {
      const turn = await access.requireTurn(lease, call);
      return lendTo(turn, uses, call);
    },

    /**
     * Records that an answer of a host contained a secret of the turn. Refused with LEASE_LOST and CREDENTIAL_NOT_FOUND.
     */
    async reportEcho(
      lease: Lease | undefined,
      { credentialId, host }: { credentialId: string; host: string },
      call: Call,
    ): Promise<void> {
      const turn = await access.requireTurn(lease, call);
      await requireLent(turn, credentialId, host, call);
      await audit.recordEcho({ credentialId, host }, turn, call);
    },

    /**
     * Replaces the access token of a credential that the receiver has refused with status 401, at most once a minute, and
     * marks any other one as refused, unless its secret has changed since or a program in a sandbox sent the request. Such a
     * program can cause a 401 with a valid credential. Returns the credential that counts now, or why there is none. Refused with
     * CREDENTIAL_NOT_FOUND for a credential that the turn did not get for this use.
     */
    async reportRefusal(
      lease: Lease | undefined,
      refusal: ServerRefusal,
      call: Call,
    ): Promise<LendingResult> {
      const { use, credentialId, generation } = refusal;
      const turn = await access.requireTurn(lease, call);
      const { host } = await access.requireNeed(turn, use, call);
      await requireLent(turn, credentialId, host, call);
      for (;;) {
        const [choice] = (await choose(turn, [use], call)).choices;
        const isCurrent =
          choice?.kind === 'found' &&
          choice.credential.credentialId === credentialId &&
          choice.credential.generation <= generation;
        if (isCurrent) {
          const { credential, source } = choice;
          const refused = { credential, source, host, isOfSandbox: isOfSandbox(use.kind) };
          const missing = await refusals.handle(refused, refusal, turn, call);
          if (missing) return { kind: 'missing', missing };
        } else {
          const [result] = await lendTo(turn, [use], call);
          if (result) return result;
          throw new Error('a lending has no result');
        }
      }
    },
  };
}

/** Programs in sandboxes use credentials for hosts and variables. */
function isOfSandbox(kind: NamedUse['kind']): boolean {
  return kind === 'host' || kind === 'variable';
}

/** A refresh gives a secret that is used at once. More attempts need another change in each. */
const MAX_ATTEMPTS = 5;
