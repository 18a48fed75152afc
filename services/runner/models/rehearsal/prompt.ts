import type {
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';

/** The text of the newest user message; empty when it has none. */
export function lastUserText(prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'user');
  return message?.role === 'user' ? textOf(message.content) : '';
}

/** The text of the newest tool result; empty when there is none. */
export function lastToolText(prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'tool');
  const part = message?.role === 'tool' ? message.content.at(-1) : undefined;
  return part?.type === 'tool-result' ? outputText(part) : '';
}

/** The texts of all tool results since the newest user message, in call order. */
export function toolTexts(prompt: LanguageModelV4Prompt): string[] {
  const begin = prompt.findLastIndex(({ role }) => role === 'user');
  return prompt.slice(begin + 1).flatMap((message) => {
    if (message.role !== 'tool') return [];
    return message.content.flatMap((part) => (part.type === 'tool-result' ? outputText(part) : []));
  });
}

function outputText({ output }: LanguageModelV4ToolResultPart): string {
  if (output.type === 'text' || output.type === 'error-text') return output.value;
  if (output.type === 'content') return textOf(output.value);
  return JSON.stringify('value' in output ? output.value : null);
}

/**
 * The number of tool calls since the newest user message, and the number of that message, from 1. With `ofTurn`, since the
 * message that began the turn: messages that were delivered into the turn do not count.
 */
export function callsSinceUser(
  prompt: LanguageModelV4Prompt,
  { ofTurn = false } = {},
): { calls: number; userMessages: number } {
  let calls = 0;
  let userMessages = 0;
  for (const { role, content, providerOptions } of prompt) {
    if (role === 'user' && !(ofTurn && providerOptions?.rehearsal?.delivered)) {
      userMessages++;
      calls = 0;
    }
    if (role === 'assistant') calls += content.filter(({ type }) => type === 'tool-call').length;
  }
  return { calls, userMessages };
}

/** Rehearsal models count words as tokens. */
export function usageOf(prompt: LanguageModelV4Prompt, outputTokens: number): LanguageModelV4Usage {
  let inputTokens = 0;
  for (const { content } of prompt) {
    inputTokens += countWords(typeof content === 'string' ? content : textOf(content));
  }
  return tokenUsage(inputTokens, outputTokens);
}

/** `cached` and `written` are a part of the input, and `reasoning` is a part of the output. */
export function tokenUsage(
  input: number,
  output: number,
  { cached = 0, written = 0, reasoning = 0 } = {},
): LanguageModelV4Usage {
  return {
    inputTokens: { total: input, noCache: input - cached - written, cacheRead: cached, cacheWrite: written },
    outputTokens: { total: output, text: output - reasoning, reasoning },
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

/** Whether a character separates words: blank, line break or tab. */
export function isBlankAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code === 32 || (code >= 9 && code <= 13);
}

interface PromptPart {
  type: string;
  text?: string;
  mediaType?: string;
  filename?: string | undefined;
  data?: unknown;
  providerOptions?: SharedV4ProviderOptions | undefined;
}

/** The texts of a content, with a description in the place of each file, such as `[image image/png 1234 bytes a.png]`. */
function textOf(content: readonly PromptPart[]): string {
  const [first] = content;
  if (content.length === 1 && first?.type === 'text') return first.text ?? '';
  return content.map(partText).join('');
}

function partText({ type, text = '', mediaType, filename, data, providerOptions }: PromptPart): string {
  if (type !== 'file') return type === 'text' ? text : '';
  const kind = providerOptions?.rehearsal?.type ?? 'file';
  return `[${kind} ${mediaType} ${byteLength(data)} bytes${filename ? ` ${filename}` : ''}]`;
}

function byteLength(data: unknown): number {
  const { data: bytes } = data as { data?: unknown };
  return bytes instanceof Uint8Array ? bytes.byteLength : Buffer.byteLength(String(bytes ?? ''), 'base64');
}
