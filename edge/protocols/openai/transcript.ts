import type { ContentParts } from '../../schemas/content.ts';
import type { ChatMessage } from './messages.ts';

const NAMES = { user: 'User', assistant: 'Assistant' } as const;

/**
 * The content of a message for an agent that does not know what was said before: the earlier messages as a transcript,
 * and then the message. Images and files of earlier messages stand before the message.
 */
export function withTranscript(earlier: readonly ChatMessage[], message: ChatMessage): ContentParts {
  const said = earlier.filter(isSaid);
  if (said.length === 0) return message.parts;
  const lines = said.map(({ role, parts }) => `${NAMES[role]}: ${textOf(parts)}`);
  const transcript = `The conversation so far:\n\n${lines.join('\n\n')}\n\nThe next message of the user:`;
  const others = said.flatMap(({ parts }) => parts.filter(({ type }) => type !== 'text'));
  return [{ type: 'text', text: transcript }, ...others, ...message.parts];
}

/** The texts of the messages with instructions. Undefined without one. */
export function instructionsOf(messages: readonly ChatMessage[]): string | undefined {
  const texts = messages.filter((message) => !isSaid(message)).map(({ parts }) => textOf(parts));
  const text = texts.filter((one) => one !== '').join('\n\n');
  return text === '' ? undefined : text;
}

function isSaid(message: ChatMessage): message is ChatMessage & { role: keyof typeof NAMES } {
  return message.role === 'user' || message.role === 'assistant';
}

function textOf(parts: ContentParts): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : `[${part.name ?? part.media_type ?? part.type}]`))
    .join('\n');
}
