import { Type } from 'typebox';
import { StopReason } from '../../lib/event-parts.ts';
import { SESSION_SOURCES } from '../../lib/event-types.ts';
import type { Session } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  count,
  flag,
  id,
  Metadata,
  NULL,
  nullable,
  revision,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
  UsageShape,
} from './common.ts';
import { SandboxOfSession } from './sandboxes.ts';
import { serializeUsage } from './usage.ts';

export const sessionTitle = text('The title of the session.', { maxLength: 200 });

export const SESSION_STATUSES = ['idle', 'pending', 'running', 'rescheduling', 'terminated'] as const;

/** The states of a session, as badges and filters name them. */
export const SESSION_STATES = [
  'needs_input',
  'needs_approval',
  'running',
  'retrying',
  'queued',
  'completed',
  'failed',
  'stopped',
  'limit_reached',
] as const;

export const SessionShape = Type.Object(
  {
    session_id: id('ses', 'the session'),
    agent_id: nullable(id('agt', 'the agent of the session; null for a session of an assistant')),
    assistant_id: nullable(id('ast', 'the assistant of the session'), NULL),
    agent_version: nullable(
      count('The version of the agent that the session uses; null for a session of an assistant.'),
    ),
    deployment_id: nullable(id('dep', 'the deployment that started the session'), NULL),
    invocation_id: nullable(id('inv', 'the invocation that started the session'), NULL),
    title: nullable(text('The title, if any.', { examples: ['Greeting'] })),
    status: Type.Enum([...SESSION_STATUSES]),
    state: nullable(
      Type.Enum([...SESSION_STATES], {
        description:
          'What the session does or how its last turn ended, derived from `status`, `stop_reason` and `needs_action`. Null before ' +
          'the first turn.',
        examples: ['completed'],
      }),
    ),
    stop_reason: nullable(StopReason, { examples: [{ type: 'end_turn' }] }),
    needs_action: flag('Whether a turn waits for an approval, a tool result or an answer.', false),
    environment_status: text(
      'The status of the sandbox: `none`, `provisioning`, `ready`, `suspended`, `restoring`, `lost` or `released`.',
      {
        examples: ['none'],
      },
    ),
    sandbox: nullable(SandboxOfSession, NULL),
    current_turn_id: nullable(id('trn', 'the turn in progress'), NULL),
    queued_turns: count('The number of turns that wait in the queue.', 0),
    queue_held: flag(
      'Whether the queued turns wait until the queue is released. Set by an interrupt with `queue: "hold"`.',
      false,
    ),
    usage: UsageShape,
    last_seq: count('The seq of the newest event.', 11),
    revision,
    metadata: Metadata,
    source: nullable(
      Type.Enum([...SESSION_SOURCES], {
        description:
          'How the session was created. `mcp`, `openai` and `a2a` are the protocols of clients. Null for sessions of earlier releases.',
        examples: ['conversation'],
      }),
    ),
    token_id: nullable(
      id('tok', 'the token of the client that created the session in another protocol than this API'),
      NULL,
    ),
    created_by: id('usr', 'the owner of the session'),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last event.'),
    archived_at: nullable(time('The time at which it was archived.'), NULL),
  },
  { title: 'Session' },
);

export function serializeSession(session: Session | undefined) {
  return {
    session_id: session?.sessionId,
    agent_id: session?.agentId || null,
    assistant_id: session?.assistantId || null,
    agent_version: session?.agentVersion || null,
    deployment_id: session?.deploymentId || null,
    invocation_id: session?.invocationId || null,
    title: session?.title || null,
    status: session?.status,
    state: session?.state || null,
    stop_reason: JSON.parse(session?.stopReasonJson || 'null'),
    needs_action: session?.needsAction,
    environment_status: session?.environmentStatus,
    sandbox: session?.sandboxId ? { sandbox_id: session.sandboxId, provider: session.sandboxProvider } : null,
    current_turn_id: session?.currentTurnId || null,
    queued_turns: session?.queuedTurns,
    queue_held: session?.queueHeld,
    usage: serializeUsage(session?.usage),
    last_seq: session?.lastSeq,
    revision: session?.lastSeq,
    metadata: session?.metadata,
    source: session?.source ?? null,
    token_id: session?.tokenId ?? null,
    created_by: session?.createdBy,
    created_at: serializeTime(session?.createdAt),
    updated_at: serializeTime(session?.updatedAt),
    archived_at: serializeTimeOrNull(session?.archivedAt),
  };
}
