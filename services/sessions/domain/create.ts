import type { Actor, EventData } from '../../../lib/events.ts';
import { isId } from '../../../lib/ids.ts';
import { draft, type EventDraft, type NewTurn } from './change.ts';
import type { SessionStatus } from './state.ts';

/** Priority of turns that a user waits for. */
export const INTERACTIVE = 0;
/** Priority of turns that a trigger started. */
export const TRIGGERED = 1;

/** The fields of a new session and of its first turn. */
export interface NewSession {
  sessionId: string;
  ownerId: string;
  agentId: string;
  agentVersion: number;
  source: EventData<'session.created'>['source'];
  actor: Actor;
  deploymentId?: string;
  invocationId?: string;
  title?: string | undefined;
  metadata: Record<string, string>;
  bodyBytes?: number;
  sourceAddress?: string;
  /** req_…: the HTTP request of the invocation. */
  requestId?: string | undefined;
  /** The first message: a JSON array of content parts. Undefined when there is none. */
  contentJson?: string | undefined;
  turnId: string;
  priority: number;
  createdAt: Date;
  traceparent: string | undefined;
}

/** Returns the first events of a new session, its first turn if it has a message, and its status after them. */
export function initialize(input: NewSession): {
  drafts: EventDraft[];
  newTurn?: NewTurn;
  status: SessionStatus;
} {
  const { actor, traceparent } = input;
  const created = draft(
    'session.created',
    {
      source: input.source,
      ...agentReference(input),
      ...(input.deploymentId ? { deployment_id: input.deploymentId } : {}),
      ...(input.invocationId ? { invocation_id: input.invocationId } : {}),
    },
    actor,
    { traceparent },
  );
  if (input.contentJson === undefined) return { drafts: [created], status: 'idle' };
  return {
    drafts: [created, ...queuedTurnDrafts(input.turnId, input.contentJson, actor, traceparent, true)],
    newTurn: { turnId: input.turnId, draftIndex: 1, priority: input.priority, ready: true, traceparent },
    status: 'pending',
  };
}

/** Returns the agent and its version, or the assistant, as events name it. An assistant has no versions. */
export function agentReference({ agentId, agentVersion }: Pick<NewSession, 'agentId' | 'agentVersion'>) {
  return isId('ast', agentId)
    ? { assistant_id: agentId }
    : { agent_id: agentId, agent_version: agentVersion };
}

/** The events of a message that queues a turn. */
export function queuedTurnDrafts(
  turnId: string,
  contentJson: string,
  actor: Actor,
  traceparent: string | undefined,
  wasIdle: boolean,
): EventDraft[] {
  const drafts = [
    { type: 'user.message' as const, dataJson: `{"content":${contentJson}}`, actor, turnId, traceparent },
    draft('turn.queued', { turn_id: turnId }, actor, { turnId, traceparent }),
  ];
  return wasIdle
    ? [...drafts, draft('session.status_pending', { turn_id: turnId }, SYSTEM_ACTOR, { turnId })]
    : drafts;
}

/** Actor of the events that the service writes itself. */
export const SYSTEM_ACTOR: Actor = { type: 'system', id: 'sessions' };
