import type { Actor, EventData } from '../../../lib/events.ts';
import { isId } from '../../../lib/ids.ts';
import { type Draft, draft, type NewTurn } from './change.ts';
import type { SessionStatus } from './state.ts';

/** How a session begins. */
export interface Beginning {
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
  /** The first message: a JSON array of content parts. */
  contentJson?: string | undefined;
  turnId: string;
  priority: number;
  createdAt: Date;
  traceparent: string | undefined;
}

/** The events of a new session, its first turn, and the status they leave it in. */
export function begin(input: Beginning): { drafts: Draft[]; newTurn?: NewTurn; status: SessionStatus } {
  const { actor, traceparent } = input;
  const created = draft(
    'session.created',
    {
      source: input.source,
      ...whose(input),
      ...(input.deploymentId ? { deployment_id: input.deploymentId } : {}),
      ...(input.invocationId ? { invocation_id: input.invocationId } : {}),
    },
    actor,
    { traceparent },
  );
  if (input.contentJson === undefined) return { drafts: [created], status: 'idle' };
  return {
    drafts: [created, ...queueing(input.turnId, input.contentJson, actor, traceparent, true)],
    newTurn: { turnId: input.turnId, draft: 1, priority: input.priority, ready: true, traceparent },
    status: 'pending',
  };
}

/** As events name what a session is of. An assistant has no versions. */
export function whose({ agentId, agentVersion }: Pick<Beginning, 'agentId' | 'agentVersion'>) {
  return isId('ast', agentId)
    ? { assistant_id: agentId }
    : { agent_id: agentId, agent_version: agentVersion };
}

/** The events with which a message queues a turn. */
export function queueing(
  turnId: string,
  contentJson: string,
  actor: Actor,
  traceparent: string | undefined,
  wasIdle: boolean,
): Draft[] {
  const drafts = [
    { type: 'user.message' as const, dataJson: `{"content":${contentJson}}`, actor, turnId, traceparent },
    draft('turn.queued', { turn_id: turnId }, actor, { turnId, traceparent }),
  ];
  return wasIdle
    ? [...drafts, draft('session.status_pending', { turn_id: turnId }, SYSTEM, { turnId })]
    : drafts;
}

export const SYSTEM: Actor = { type: 'system', id: 'sessions' };
