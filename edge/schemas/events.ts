import { Type } from 'typebox';
import { refuse } from '../../lib/errors.ts';
import { isEventType } from '../../lib/events.ts';
import { optional } from './common.ts';

const MAX_SEQ = Number.MAX_SAFE_INTEGER;

export const afterSeq = optional(
  Type.Integer({ minimum: 0, maximum: MAX_SEQ, description: 'Only events after this seq.' }),
);
export const types = optional(
  Type.String({
    maxLength: 2_000,
    description: 'Only these types, separated by commas.',
    examples: ['user.message,agent.message'],
  }),
);

export const order = optional(
  Type.Enum(['oldest_first', 'newest_first'], {
    description: 'Where to begin: at the oldest event, which is the default, or at the newest.',
  }),
);

/** The types of a filter. Refused with INVALID_REQUEST when there is no such type. */
export function typesOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  const names = text.split(',');
  const unknown = names.find((name) => !isEventType(name));
  if (unknown === undefined) return names;
  const problem = {
    pointer: '/types',
    message: `names no event type: ${JSON.stringify(unknown.slice(0, 100))}`,
  };
  throw refuse('INVALID_REQUEST', `${problem.pointer} ${problem.message}`, { details: [problem] });
}
