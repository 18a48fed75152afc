import { isId, withPrefix } from '../../../lib/ids.ts';
import type { Session, Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { NO_USAGE } from '../domain/state.ts';
import type { ListedTurn, SessionRow } from '../store/lists.ts';

export interface New {
  sessionId: string;
  agentId: string;
  agentVersion: number;
  title: string | null;
  metadata: Record<string, string>;
  ownerId: string;
  /** Its first message; absent when it begins without one. */
  contentJson?: string | undefined;
  lastSeq: number;
  createdAt: Date;
}

/** A session as it is in the moment of its making. */
export function newSession(made: New): Session {
  const queued = made.contentJson !== undefined;
  return {
    sessionId: made.sessionId,
    ...whose(made.agentId),
    agentVersion: made.agentVersion,
    deploymentId: '',
    invocationId: '',
    title: made.title ?? '',
    status: queued ? 'pending' : 'idle',
    stopReasonJson: '',
    needsAction: false,
    environmentStatus: 'none',
    currentTurnId: '',
    queuedTurns: queued ? 1 : 0,
    usage: NO_USAGE,
    lastSeq: made.lastSeq,
    metadata: made.metadata,
    createdBy: made.ownerId,
    createdAt: made.createdAt,
    updatedAt: made.createdAt,
    archivedAt: undefined,
    sandboxId: '',
    sandboxProvider: '',
  };
}

/** A row as the contract shows it. */
export function sessionOf(row: SessionRow): Session {
  // A turn that is current while nothing runs waits for somebody.
  const needsAction = row.current_turn_id !== null && (row.status === 'idle' || row.status === 'pending');
  return {
    sessionId: row.session_id,
    ...whose(row.agent_id),
    agentVersion: row.agent_version,
    deploymentId: row.deployment_id ?? '',
    invocationId: row.deployment_id ? invocationOf(row.session_id) : '',
    title: row.title ?? '',
    status: row.status,
    stopReasonJson: row.status === 'idle' || needsAction ? (row.stop_reason ?? '') : '',
    needsAction,
    environmentStatus: row.environment_status ?? 'none',
    currentTurnId: row.current_turn_id ?? '',
    queuedTurns: row.queued_turns,
    usage: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      steps: row.steps,
      toolCalls: row.tool_calls,
      activeMs: row.active_ms,
    },
    lastSeq: row.last_seq,
    metadata: JSON.parse(row.metadata),
    createdBy: row.owner_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at ?? undefined,
    sandboxId: row.sandbox_id ?? '',
    sandboxProvider: row.sandbox_provider ?? '',
  };
}

/** Sessions of an agent and of an assistant are kept alike. */
function whose(id: string) {
  return isId('ast', id) ? { agentId: '', assistantId: id } : { agentId: id, assistantId: '' };
}

export function turnShapeOf(row: ListedTurn): Turn {
  return {
    turnId: row.turn_id,
    sessionId: row.session_id,
    status: row.turn_status,
    attempt: row.attempt,
    usage: {
      inputTokens: row.turn_input_tokens,
      outputTokens: row.turn_output_tokens,
      steps: row.turn_steps,
      toolCalls: row.turn_tool_calls,
      activeMs: row.turn_active_ms,
    },
    errorJson: row.error ?? '',
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
    position: row.position,
  };
}

/** A triggered session and its invocation have the same 26 characters. */
export function invocationOf(sessionId: string): string {
  return withPrefix('inv', sessionId);
}
