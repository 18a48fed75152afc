import { Type } from 'typebox';
import { refuse } from '../../lib/errors.ts';
import { isEventType } from '../../lib/event-types.ts';
import { optional } from './common.ts';

const MAX_SEQ = Number.MAX_SAFE_INTEGER;

export const afterSeq = optional(
  Type.Integer({ minimum: 0, maximum: MAX_SEQ, description: 'Only items with a greater seq.' }),
);
export const types = optional(
  Type.String({
    maxLength: 2_000,
    description: 'Only events of these types, separated by commas.',
    examples: ['user.message,agent.message'],
  }),
);

export const order = optional(
  Type.Enum(['oldest_first', 'newest_first'], {
    description: 'The order of the events. Default: `oldest_first`.',
  }),
);

/** Parses the `types` filter. Refuses unknown types with INVALID_REQUEST. */
export function typesOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  const names = text.split(',');
  const unknown = names.find((name) => !isEventType(name));
  if (unknown === undefined) return names;
  const problem = {
    pointer: '/types',
    message: `contains an unknown event type: ${JSON.stringify(unknown.slice(0, 100))}`,
  };
  throw refuse('INVALID_REQUEST', `${problem.pointer} ${problem.message}`, { details: [problem] });
}
