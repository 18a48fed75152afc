import { type Refusal, refuse } from '../../../lib/errors.ts';
import { isId, withPrefix } from '../../../lib/ids.ts';
import type { Session, Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { derivedState, needsAction as isActionNeeded } from '../domain/derived-state.ts';
import { NO_USAGE } from '../domain/state.ts';
import type { ListedTurn, SessionRow } from '../store/lists.ts';
import { turnUsageOf, usageOf } from '../store/usage.ts';

interface CreatedSession {
  sessionId: string;
  agentId: string;
  agentVersion: number;
  title: string | null;
  metadata: Record<string, string>;
  ownerId: string;
  source: string;
  /** tok_…. Undefined without one. */
  tokenId?: string | undefined;
  /** The first message: JSON array of content parts. Absent when there is none. */
  contentJson?: string | undefined;
  lastSeq: number;
  createdAt: Date;
}

/** Returns a session as it is right after its creation. */
export function createdSessionMessage(created: CreatedSession): Session {
  const queued = created.contentJson !== undefined;
  return {
    sessionId: created.sessionId,
    ...agentOrAssistantId(created.agentId),
    agentVersion: created.agentVersion,
    deploymentId: '',
    invocationId: '',
    title: created.title ?? '',
    status: queued ? 'pending' : 'idle',
    stopReasonJson: '',
    needsAction: false,
    environmentStatus: 'none',
    currentTurnId: '',
    queuedTurns: queued ? 1 : 0,
    usage: NO_USAGE,
    lastSeq: created.lastSeq,
    metadata: created.metadata,
    createdBy: created.ownerId,
    createdAt: created.createdAt,
    updatedAt: created.createdAt,
    archivedAt: undefined,
    sandboxId: '',
    sandboxProvider: '',
    state: queued ? 'queued' : '',
    queueHeld: false,
    source: created.source,
    tokenId: created.tokenId,
  };
}

/** Converts a row to the message of the contract. */
export function sessionMessage(row: SessionRow): Session {
  const hasCurrentTurn = row.current_turn_id !== null;
  const needsAction = isActionNeeded(row.status, hasCurrentTurn);
  const stopReason = row.stop_reason === null ? null : JSON.parse(row.stop_reason);
  return {
    sessionId: row.session_id,
    ...agentOrAssistantId(row.agent_id),
    agentVersion: row.agent_version,
    deploymentId: row.deployment_id ?? '',
    invocationId: row.is_invocation ? invocationOf(row.session_id) : '',
    title: row.title ?? '',
    status: row.status,
    stopReasonJson: row.status === 'idle' || needsAction ? (row.stop_reason ?? '') : '',
    needsAction,
    environmentStatus: row.environment_status ?? 'none',
    currentTurnId: row.current_turn_id ?? '',
    queuedTurns: row.queued_turns,
    usage: usageOf(row),
    lastSeq: row.last_seq,
    metadata: JSON.parse(row.metadata),
    createdBy: row.owner_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at ?? undefined,
    sandboxId: row.sandbox_id ?? '',
    sandboxProvider: row.sandbox_provider ?? '',
    state: derivedState({ status: row.status, stopReason, hasCurrentTurn }) ?? '',
    queueHeld: row.queue_held,
    source: row.source ?? undefined,
    tokenId: row.token_id ?? undefined,
  };
}

/** An agent id and an assistant id share a column. */
function agentOrAssistantId(id: string) {
  return isId('ast', id) ? { agentId: '', assistantId: id } : { agentId: id, assistantId: '' };
}

export function turnMessage(row: ListedTurn): Turn {
  return {
    turnId: row.turn_id,
    sessionId: row.session_id,
    status: row.turn_status,
    attempt: row.attempt,
    usage: turnUsageOf(row),
    errorJson: row.error ?? '',
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
    position: row.position,
    replacesTurnId: row.replaces_turn_id ?? undefined,
    deliveredToTurnId: row.delivered_to ?? undefined,
    outputJson: row.output ?? undefined,
    overridesJson: row.overrides ?? undefined,
    kind: row.kind ?? undefined,
  };
}

/** Returns the invocation id of a triggered session: both ids have the same 26 characters. */
export function invocationOf(sessionId: string): string {
  return withPrefix('inv', sessionId);
}

export function turnNotFound(turnId: string): Refusal {
  return refuse('TURN_NOT_FOUND', `The session has no turn ${turnId}.`);
}
