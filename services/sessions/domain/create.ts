import type { Actor } from '../../../lib/event-parts.ts';
import type { EventData } from '../../../lib/events.ts';
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
  /** JSON text of the sender of the first message. Undefined for a user of the service. */
  senderJson?: string | undefined;
  turnId: string;
  /** The files that the workspace got before the session existed. Undefined for none. */
  upload?: InitialUpload | undefined;
  /** JSON text of the overrides that hold for all turns. Undefined for none. */
  overridesJson?: string | undefined;
  priority: number;
  /** Changes of the session write signals. */
  hasSignals?: boolean;
  createdAt: Date;
  traceparent: string | undefined;
}

/** An upload into the workspace of a new session. */
export interface InitialUpload {
  /** Its number among the changes of the workspace. */
  seq: number;
  /** The data of its `files.uploaded` event: a JSON object. */
  dataJson: string;
}

/** The token of the client that creates the session. Undefined without one. */
export function tokenOf({ actor }: Pick<NewSession, 'actor'>): string | undefined {
  return isId('tok', actor.id) ? actor.id : undefined;
}

/** Returns the first events of a new session, its first turn if it has a message, and its status after them. */
export function initialize(input: NewSession): {
  drafts: EventDraft[];
  newTurn?: NewTurn;
  status: SessionStatus;
} {
  const { actor, traceparent, turnId, contentJson, senderJson, overridesJson, upload } = input;
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
  const uploaded: EventDraft[] = upload
    ? [{ type: 'files.uploaded', dataJson: upload.dataJson, actor, traceparent }]
    : [];
  const first = [created, ...uploaded];
  if (contentJson === undefined) return { drafts: first, status: 'idle' };
  const message = { turnId, contentJson, senderJson, actor, traceparent, overridesJson };
  return {
    drafts: [...first, ...queuedTurnDrafts(message, true)],
    newTurn: {
      ...{ turnId, draftIndex: first.length, priority: input.priority, ready: true },
      ...{ traceparent, overridesJson },
    },
    status: 'pending',
  };
}

/** Returns the agent and its version, or the assistant, as events name it. An assistant has no versions. */
export function agentReference({ agentId, agentVersion }: Pick<NewSession, 'agentId' | 'agentVersion'>) {
  return isId('ast', agentId)
    ? { assistant_id: agentId }
    : { agent_id: agentId, agent_version: agentVersion };
}

/** The message that queues a turn. */
export interface QueuedMessage {
  turnId: string;
  /** A JSON array of content parts. */
  contentJson: string;
  /** JSON text of the sender in a messaging product. Undefined for a user of the service. */
  senderJson?: string | undefined;
  actor: Actor;
  traceparent: string | undefined;
  /** JSON text of the overrides in force for the turn. Undefined for none. */
  overridesJson: string | undefined;
  /** The turn that the message steers. */
  steersTurnId?: string | undefined;
  /** The bytes that a pinned message counts for. Undefined for a message that is not pinned. */
  pinnedBytes?: number | undefined;
}

/** The events of a message that queues a turn. */
export function queuedTurnDrafts(message: QueuedMessage, wasIdle: boolean): EventDraft[] {
  const { turnId, contentJson, senderJson, actor, traceparent, overridesJson, steersTurnId, pinnedBytes } =
    message;
  const overrides = overridesJson === undefined ? '' : `,"overrides":${overridesJson}`;
  const sender = senderJson === undefined ? '' : `,"sender":${senderJson}`;
  const steers = steersTurnId === undefined ? '' : `,"steers_turn_id":"${steersTurnId}"`;
  const pinned = pinnedBytes === undefined ? '' : ',"pinned":true';
  const queued = `{"turn_id":"${turnId}"${steers}${overrides}}`;
  const drafts: EventDraft[] = [
    {
      type: 'user.message',
      dataJson: `{"content":${contentJson}${sender}${pinned}}`,
      actor,
      turnId,
      traceparent,
    },
    { type: 'turn.queued', dataJson: queued, actor, turnId, traceparent },
  ];
  return wasIdle
    ? [...drafts, draft('session.status_pending', { turn_id: turnId }, SYSTEM_ACTOR, { turnId })]
    : drafts;
}

/** Actor of the events that the service writes itself. */
export const SYSTEM_ACTOR: Actor = { type: 'system', id: 'sessions' };
