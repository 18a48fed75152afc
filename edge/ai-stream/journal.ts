import type { EventType } from '../../lib/event-types.ts';
import type { EventData } from '../../lib/events.ts';
import type { Event } from '../../proto/gen/ahs/sessions/v1/sessions.ts';

/** The event types that are rendered. */
const RENDERED = [
  'agent.message',
  'agent.message_delta',
  'agent.message_discarded',
  'agent.thinking',
  'agent.tool_use',
  'agent.tool_dispatched',
  'agent.tool_progress',
  'agent.tool_result',
  'approval.requested',
  'approval.decided',
  'session.error',
  'session.deleted',
  'turn.started',
  'turn.blocked',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
  'user.message_delivered',
] as const satisfies readonly EventType[];

export const RENDERED_TYPES: string[] = [...RENDERED];

type RenderedType = (typeof RENDERED)[number];

/** The fields of a journal event that the renderer reads. */
export type TurnEvent = {
  [Type in RenderedType]: { seq: number; type: Type; turn_id?: string; data: EventData<Type> };
}[RenderedType];

/** The event types of which the history of a chat is made. */
export const HISTORY_TYPES: string[] = [...RENDERED, 'user.message', 'turn.queued'];

/** The fields of a journal event that the history reads. */
export type HistoryEvent =
  | TurnEvent
  | {
      seq: number;
      type: 'user.message';
      event_id: string;
      turn_id?: string;
      data: EventData<'user.message'>;
    }
  | { seq: number; type: 'turn.queued'; turn_id?: string; data: EventData<'turn.queued'> };

/** Parses an event of a journal that is filtered by `RENDERED_TYPES`. */
export function readEvent({ json }: Event): TurnEvent {
  return JSON.parse(json);
}

/** Parses an event of a journal that is filtered by `HISTORY_TYPES`. */
export function readHistoryEvent({ json }: Event): HistoryEvent {
  return JSON.parse(json);
}
