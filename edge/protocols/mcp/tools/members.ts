import { Type } from 'typebox';
import { nullable, optional } from '../../../schemas/common.ts';
import { MAX_SECONDS, MAX_SECONDS_WITH_PROGRESS } from '../waiting.ts';

/** The members that the schemas of several tools have. */

export const agentId = (meaning: string) => identifier('agt', meaning);
export const sessionId = (meaning: string) => identifier('ses', meaning);
export const turnId = (meaning: string) => identifier('trn', meaning);

const identifier = (prefix: string, meaning: string) =>
  Type.String({ maxLength: 100, description: `${prefix}_...: ${meaning}` });

export const nextCursor = nullable(Type.String(), {
  description: 'The `cursor` of the next page; null on the last page.',
});

export const message = Type.String({ minLength: 1, description: 'The message to the agent.' });

export const waitSeconds = optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_SECONDS_WITH_PROGRESS,
    description:
      `The longest time to wait for the answer. Default: the longest that is allowed, which is ${MAX_SECONDS}, or ` +
      `${MAX_SECONDS_WITH_PROGRESS} for a call with a progress token. The agent goes on after that; call \`wait_for_turn\`.`,
  }),
);

export const idempotencyKey = optional(
  Type.String({
    pattern: '^[\\x21-\\x7e]{1,255}$',
    description:
      'A unique text of 1 to 255 visible ASCII characters. A repeated call with the same key has no second effect, for 24 hours.',
  }),
);
