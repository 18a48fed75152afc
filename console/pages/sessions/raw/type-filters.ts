import { DURABLE_TYPES } from '../../../journal/event.ts';

/** Filters by prefix of the event type. */
export const TYPE_FILTERS = [
  { value: 'all', text: 'All events' },
  { value: 'user.', text: 'user.*' },
  { value: 'agent.', text: 'agent.* without deltas' },
  { value: 'agent.message', text: 'agent.message and deltas' },
  { value: 'agent.tool', text: 'agent.tool_*' },
  { value: 'approval.', text: 'approval.*' },
  { value: 'turn.', text: 'turn.*' },
  { value: 'session.', text: 'session.*' },
  { value: 'model.', text: 'model.*' },
  { value: 'file', text: 'file.* and files.*' },
  { value: 'environment.', text: 'environment.*' },
];

const TRANSIENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['agent.message', 'agent.message_delta'],
  ['agent.tool', 'agent.tool_progress'],
]);

/** Returns the event types that begin with a prefix. */
export function typesWithPrefix(prefix: string): string[] {
  const transient = TRANSIENT_TYPES.get(prefix);
  return [...DURABLE_TYPES.filter((type) => type.startsWith(prefix)), ...(transient ? [transient] : [])];
}
