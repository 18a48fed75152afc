import { Type } from 'typebox';
import { StopReason } from '../../lib/events.ts';
import type { Session } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
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
import { SandboxOfSession } from './sandboxes.ts';
import { shownUsage } from './usage.ts';

export const sessionTitle = text('A name for the session.', { maxLength: 200 });

export const SESSION_STATUSES = ['idle', 'pending', 'running', 'rescheduling', 'terminated'] as const;

export const SessionShape = Type.Object(
  {
    session_id: id('ses', 'the session'),
    agent_id: nullable(id('agt', 'the agent that works in it; null when an assistant does')),
    assistant_id: nullable(id('ast', 'the assistant that works in it'), NULL),
    agent_version: nullable(
      count('The version of the agent that it works with; null of an assistant, which has none.'),
    ),
    deployment_id: nullable(id('dep', 'the deployment that started it'), NULL),
    invocation_id: nullable(id('inv', 'the call that started it'), NULL),
    title: nullable(text('Its name, where it has one.', { examples: ['Greeting'] })),
    status: Type.Enum([...SESSION_STATUSES]),
    stop_reason: nullable(StopReason, { examples: [{ type: 'end_turn' }] }),
    needs_action: flag('Whether it waits for somebody.', false),
    environment_status: text('none, provisioning, ready, suspended, restoring, lost or released.', {
      examples: ['none'],
    }),
    sandbox: nullable(SandboxOfSession, NULL),
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

export function shownSession(session: Session | undefined) {
  return {
    session_id: session?.sessionId,
    agent_id: session?.agentId || null,
    assistant_id: session?.assistantId || null,
    agent_version: session?.agentVersion || null,
    deployment_id: session?.deploymentId || null,
    invocation_id: session?.invocationId || null,
    title: session?.title || null,
    status: session?.status,
    stop_reason: JSON.parse(session?.stopReasonJson || 'null'),
    needs_action: session?.needsAction,
    environment_status: session?.environmentStatus,
    sandbox: session?.sandboxId ? { sandbox_id: session.sandboxId, provider: session.sandboxProvider } : null,
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
