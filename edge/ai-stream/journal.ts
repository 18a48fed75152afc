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
] as const satisfies readonly EventType[];

export const RENDERED_TYPES: string[] = [...RENDERED];

type RenderedType = (typeof RENDERED)[number];

/** The fields of a journal event that the renderer reads. */
export type TurnEvent = {
  [Type in RenderedType]: { seq: number; type: Type; turn_id?: string; data: EventData<Type> };
}[RenderedType];

/** Parses an event of a journal that is filtered by `RENDERED_TYPES`. */
export function readEvent({ json }: Event): TurnEvent {
  return JSON.parse(json);
}
