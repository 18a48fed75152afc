import { type Static, Type } from 'typebox';
import { closed, text } from './common.ts';

const TextPart = closed(
  { type: Type.Literal('text'), text: text('What is said.') },
  { title: 'TextPart', description: 'A piece of text.' },
);

/** What a client says to an agent. */
export const Content = Type.Union([Type.String(), Type.Array(TextPart, { minItems: 1 })], {
  title: 'Content',
  description: 'What is said to the agent: a text, or an array of parts. A text is short for one text part.',
  examples: ['Hello!'],
});

/** The longest body that holds a message. */
export const MESSAGE_BYTES = 10 * 1024 * 1024;

/** What a message does that finds the session busy. */
export const BusyPolicy = Type.Enum(['enqueue', 'reject', 'interrupt'], { default: 'enqueue' });

/** The JSON array of parts that services exchange. */
export function contentJson(content: Static<typeof Content>): string {
  return JSON.stringify(typeof content === 'string' ? [{ type: 'text', text: content }] : content);
}
