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

const PASSING: Record<string, string[]> = {
  'agent.message': ['agent.message_delta'],
  'agent.tool': ['agent.tool_progress'],
};

/** The types that begin so. */
export function typesIn(family: string): string[] {
  return [...LASTING_TYPES.filter((type) => type.startsWith(family)), ...(PASSING[family] ?? [])];
}
