import type { LanguageModelV4Prompt } from '@ai-sdk/provider';

/** The shortest text that every provider accepts as the content of a user message. */
const PLACEHOLDER = '.';

/**
 * Leaves out the user texts that a provider rejects. A user message without any other content gets a placeholder: a
 * webhook can have an empty body, and providers reject user messages without content.
 */
export function withoutRejectedTexts(
  prompt: LanguageModelV4Prompt,
  isRejected: (text: string) => boolean,
): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role !== 'user') return message;
    const content = message.content.filter((part) => part.type !== 'text' || !isRejected(part.text));
    if (content.length === 0) return { ...message, content: [{ type: 'text', text: PLACEHOLDER }] };
    return content.length === message.content.length ? message : { ...message, content };
  });
}
