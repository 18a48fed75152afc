import type { Change } from '../../../../services/sessions/domain/change.ts';
import {
  NO_USAGE,
  type OpenCall,
  type SessionState,
  type TurnState,
} from '../../../../services/sessions/domain/state.ts';

/* States and changes of the sessions domain for table tests. No I/O. */

export const NOW = new Date('2026-03-01T12:00:00.000Z');
export const LIMITS = { maxFailures: 2, maxAttempts: 3, random: () => 0.5 };
export const NEXT = { turnId: 'trn_next', position: 9 };
export const USER = { type: 'user' as const, id: 'usr_1' };

export function turnState(fields: Partial<TurnState> = {}): TurnState {
  return {
    turnId: 'trn_1',
    kind: 'answer',
    position: 2,
    status: 'in_progress',
    ready: false,
    wakeAt: null,
    attempt: 1,
    lastProgressAttempt: 0,
    failures: 0,
    fallbackModel: null,
    fence: 5,
    reportSeq: 0,
    runnerId: 'rnr_1',
    leaseUntil: new Date(NOW.getTime() + 15_000),
    openMessageId: null,
    stepAfter: null,
    calls: [],
    approval: null,
    credentialUses: [],
    traceparent: null,
    usage: NO_USAGE,
    openModelRequest: null,
    errorJson: null,
    overridesJson: null,
    outputJson: null,
    startedAt: NOW,
    finishedAt: null,
    ...fields,
  };
}

export function sessionState(fields: Partial<SessionState> = {}): SessionState {
  return {
    sessionId: 'ses_1',
    ownerId: USER.id,
    agentId: 'agt_1',
    agentVersion: 1,
    archived: false,
    deleted: false,
    lastSeq: 10,
    hasTitle: true,
    overridesJson: null,
    status: 'running',
    stopReason: null,
    queuedTurns: 0,
    queueHeld: false,
    fence: 5,
    hasSignals: false,
    usage: NO_USAGE,
    toolsOfferedSha256: null,
    contextJson: null,
    current: null,
    next: null,
    isSteered: false,
    ...fields,
  };
}

export function openCall(fields: Partial<OpenCall> = {}): OpenCall {
  return { toolUseId: 'call_1', name: 'count', dispatches: 0, approval: null, ...fields };
}

/** An open call with a pending or decided approval. */
export function callWithApproval(name: string, decision: string | null = null): OpenCall {
  const approval = { approvalId: `apr_${name}`, kind: 'tool' as const, dispatches: 0, decision };
  return openCall({ toolUseId: `call_${name}`, approval });
}

export function typesOf({ drafts }: Change): string[] {
  return drafts.map(({ type }) => type);
}

/** The data of the only draft of this type. */
export function dataOf({ drafts }: Change, type: string) {
  const found = drafts.filter((draft) => draft.type === type);
  if (found.length !== 1) throw new Error(`${found.length} drafts of type ${type}`);
  return JSON.parse(found[0]?.dataJson ?? '');
}
