import { Type } from 'typebox';
import { StopReason } from '../../lib/events.ts';
import type { Session, Turn, Usage as UsageMessage } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  count,
  flag,
  id,
  Metadata,
  NULL,
  nullable,
  shownTime,
  shownTimeOrNull,
  text,
  time,
  Usage,
} from './common.ts';

export const SESSION_STATUSES = ['idle', 'pending', 'running', 'rescheduling', 'terminated'] as const;

export const SessionShape = Type.Object(
  {
    session_id: id('ses', 'the session'),
    agent_id: id('agt', 'the agent that works in it'),
    agent_version: count('The version of the agent that it started with.'),
    deployment_id: nullable(id('dep', 'the deployment that started it'), NULL),
    invocation_id: nullable(id('inv', 'the call that started it'), NULL),
    title: nullable(text('Its name, where it has one.', { examples: ['Greeting'] })),
    status: Type.Enum([...SESSION_STATUSES]),
    stop_reason: nullable(StopReason, { examples: [{ type: 'end_turn' }] }),
    needs_action: flag('Whether it waits for somebody.', false),
    environment_status: text('none, provisioning, ready, suspended, restoring, lost or released.', {
      examples: ['none'],
    }),
    current_turn_id: nullable(id('trn', 'the turn in progress'), NULL),
    queued_turns: count('Turns that wait.', 0),
    usage: Usage,
    last_seq: count('The seq of its newest event.', 11),
    metadata: Metadata,
    created_by: id('usr', 'whose session it is'),
    created_at: time('When it began.'),
    updated_at: time('When something last happened in it.'),
    archived_at: nullable(time('When it was archived.'), NULL),
  },
  { title: 'Session' },
);

export const TurnShape = Type.Object(
  {
    turn_id: id('trn', 'the turn'),
    session_id: id('ses', 'its session'),
    status: Type.Enum([
      'queued',
      'in_progress',
      'blocked',
      'completed',
      'failed',
      'interrupted',
      'cancelled',
    ]),
    attempt: count('How often it was started.'),
    usage: Usage,
    error: nullable(
      Type.Object({ code: text('A word for programs.'), message: text('A sentence for people.') }),
      NULL,
    ),
    created_at: time('When it was queued.'),
    started_at: nullable(time('When it was first started.')),
    finished_at: nullable(time('When it ended.')),
  },
  { title: 'Turn' },
);

export const MessageShape = Type.Object(
  {
    event_id: id('evt', 'the event that holds it'),
    seq: count('Its place in the journal.'),
    role: Type.Enum(['user', 'agent']),
    content: Type.Array(
      Type.Object({ type: text('text, or another kind of part.') }, { additionalProperties: true }),
      { examples: [[{ type: 'text', text: 'Hello!' }]] },
    ),
    turn_id: id('trn', 'its turn'),
    message_id: Type.Optional(id('msg', 'the message of the agent')),
    created_at: time('When it was said.'),
  },
  { title: 'Message' },
);

function shownUsage(usage: UsageMessage | undefined) {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    steps: usage?.steps ?? 0,
    tool_calls: usage?.toolCalls ?? 0,
    active_seconds: (usage?.activeMs ?? 0) / 1_000,
  };
}

export function shownSession(session: Session | undefined) {
  return {
    session_id: session?.sessionId,
    agent_id: session?.agentId,
    agent_version: session?.agentVersion,
    deployment_id: session?.deploymentId || null,
    invocation_id: session?.invocationId || null,
    title: session?.title || null,
    status: session?.status,
    stop_reason: JSON.parse(session?.stopReasonJson || 'null'),
    needs_action: session?.needsAction,
    environment_status: session?.environmentStatus,
    current_turn_id: session?.currentTurnId || null,
    queued_turns: session?.queuedTurns,
    usage: shownUsage(session?.usage),
    last_seq: session?.lastSeq,
    metadata: session?.metadata,
    created_by: session?.createdBy,
    created_at: shownTime(session?.createdAt),
    updated_at: shownTime(session?.updatedAt),
    archived_at: shownTimeOrNull(session?.archivedAt),
  };
}

export function shownTurn(turn: Turn | undefined) {
  return {
    turn_id: turn?.turnId,
    session_id: turn?.sessionId,
    status: turn?.status,
    attempt: turn?.attempt,
    usage: shownUsage(turn?.usage),
    error: JSON.parse(turn?.errorJson || 'null'),
    created_at: shownTime(turn?.createdAt),
    started_at: shownTimeOrNull(turn?.startedAt),
    finished_at: shownTimeOrNull(turn?.finishedAt),
  };
}

/** A user.message or agent.message event as a message. */
export function shownMessage(json: string) {
  const { event_id, seq, type, turn_id, created_at, data } = JSON.parse(json);
  return {
    event_id,
    seq,
    role: type === 'user.message' ? 'user' : 'agent',
    content: data.content,
    turn_id,
    message_id: data.message_id,
    created_at,
  };
}
