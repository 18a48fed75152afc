import type {
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';

/** The text of the newest user message; empty when it has none. */
export function lastUserText(prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'user');
  return message?.role === 'user' ? textOf(message.content) : '';
}

/** The text of what the newest tool call gave; empty when there was none. */
export function lastToolText(prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'tool');
  const part = message?.role === 'tool' ? message.content.at(-1) : undefined;
  return part?.type === 'tool-result' ? givenIn(part) : '';
}

/** The texts of all that tools gave since the newest user message, in the order of their calls. */
export function toolTexts(prompt: LanguageModelV4Prompt): string[] {
  const begin = prompt.findLastIndex(({ role }) => role === 'user');
  return prompt.slice(begin + 1).flatMap((message) => {
    if (message.role !== 'tool') return [];
    return message.content.flatMap((part) => (part.type === 'tool-result' ? givenIn(part) : []));
  });
}

function givenIn({ output }: LanguageModelV4ToolResultPart): string {
  if (output.type === 'text' || output.type === 'error-text') return output.value;
  return JSON.stringify('value' in output ? output.value : null);
}

/** How many tools were called since the newest user message, and which user message that is, from 1. */
export function callsSinceUser(prompt: LanguageModelV4Prompt): { calls: number; question: number } {
  let calls = 0;
  let question = 0;
  for (const { role, content } of prompt) {
    if (role === 'user') {
      question++;
      calls = 0;
    }
    if (role === 'assistant') calls += content.filter(({ type }) => type === 'tool-call').length;
  }
  return { calls, question };
}

/** A rehearsal model counts words where a real one counts tokens. */
export function usageOf(prompt: LanguageModelV4Prompt, outputTokens: number): LanguageModelV4Usage {
  let inputTokens = 0;
  for (const { content } of prompt) {
    inputTokens += countWords(typeof content === 'string' ? content : textOf(content));
  }
  return tokens(inputTokens, outputTokens);
}

export function tokens(input: number, output: number): LanguageModelV4Usage {
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

export function countWords(text: string): number {
  let words = 0;
  let inWord = false;
  for (let i = 0; i < text.length; i++) {
    const isBlank = isBlankAt(text, i);
    if (!isBlank && !inWord) words++;
    inWord = !isBlank;
  }
  return words;
}

/** Blanks, line breaks and tabs part words. */
export function isBlankAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code === 32 || (code >= 9 && code <= 13);
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  if (content.length === 1) return content[0]?.text ?? '';
  return content.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
}
