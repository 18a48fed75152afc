import { type Static, Type } from 'typebox';
import { closed, text } from './common.ts';

const TextPart = closed(
  { type: Type.Literal('text'), text: text('The text.') },
  { title: 'TextPart', description: 'A text part of a message.' },
);

/** The content of a user message. */
export const MessageContent = Type.Union([Type.String(), Type.Array(TextPart, { minItems: 1 })], {
  title: 'Content',
  description:
    'The message to the agent: a text or an array of parts. A text is equivalent to one text part.',
  examples: ['Hello!'],
});

/** The longest request body with a message. */
export const MESSAGE_BYTES = 10 * 1024 * 1024;

/** How a message is handled while the session is busy. */
export const BusyPolicySchema = Type.Enum(['enqueue', 'reject', 'interrupt'], { default: 'enqueue' });

/** The content as the JSON array of parts that services exchange. */
export function contentJson(content: Static<typeof MessageContent>): string {
  return JSON.stringify(typeof content === 'string' ? [{ type: 'text', text: content }] : content);
}
