import { LASTING_TYPES } from '../../../journal/event.ts';

/** Kinds of events by the beginning of their types. */
export const FAMILIES = [
  { value: 'all', text: 'All events' },
  { value: 'user.', text: 'user.*' },
  { value: 'agent.', text: 'agent.* without deltas' },
  { value: 'agent.message', text: 'agent.message and deltas' },
  { value: 'agent.tool', text: 'agent.tool_*' },
  { value: 'approval.', text: 'approval.*' },
  { value: 'turn.', text: 'turn.*' },
  { value: 'session.', text: 'session.*' },
  { value: 'model.', text: 'model.*' },
  { value: 'file.', text: 'file.*' },
  { value: 'environment.', text: 'environment.*' },
];

const PASSING: ReadonlyMap<string, string> = new Map([
  ['agent.message', 'agent.message_delta'],
  ['agent.tool', 'agent.tool_progress'],
]);

/** The types that begin so; none when it is the beginning of none. */
export function typesIn(family: string): string[] {
  const passing = PASSING.get(family);
  return [...LASTING_TYPES.filter((type) => type.startsWith(family)), ...(passing ? [passing] : [])];
}
