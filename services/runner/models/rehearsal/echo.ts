import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isBlankAt, lastUserText, usageOf } from './prompt.ts';

/** A text up to this length comes word by word; of a longer one, each piece is about this part of it. */
const SHORT_CHARS = 2_048;
const LONG_PIECES = 1_024;

/** `rehearsal/echo` says the last user message again, word by word, exactly as it was, as fast as it can. */
export function createEcho(): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'rehearsal',
    modelId: 'echo',
    supportedUrls: {},
    async doGenerate() {
      throw new Error('rehearsal models only stream');
    },
    async doStream({ prompt, maxOutputTokens }) {
      const { pieces, words, complete } = cut(lastUserText(prompt), maxOutputTokens);
      const parts: LanguageModelV4StreamPart[] = [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: '0' },
        ...pieces.map((delta) => ({ type: 'text-delta' as const, id: '0', delta })),
        { type: 'text-end', id: '0' },
        {
          type: 'finish',
          usage: usageOf(prompt, words),
          finishReason: { unified: complete ? 'stop' : 'length', raw: undefined },
        },
      ];
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
}

interface Cut {
  /** Joined they are the text, or its beginning of `words` words. */
  pieces: string[];
  words: number;
  complete: boolean;
}

/** A piece ends behind the blanks that follow a word. */
export function cut(text: string, maxWords = Number.POSITIVE_INFINITY): Cut {
  const shortest = text.length <= SHORT_CHARS ? 1 : Math.ceil(text.length / LONG_PIECES);
  const pieces: string[] = [];
  let begin = 0;
  let words = 0;
  let inWord = false;
  for (let i = 0; i < text.length; i++) {
    const isBlank = isBlankAt(text, i);
    if (!isBlank && !inWord) {
      if (words === maxWords) {
        if (i > begin) pieces.push(text.slice(begin, i));
        return { pieces, words, complete: false };
      }
      if (words > 0 && i - begin >= shortest) {
        pieces.push(text.slice(begin, i));
        begin = i;
      }
      words++;
    }
    inWord = !isBlank;
  }
  if (begin < text.length) pieces.push(text.slice(begin));
  return { pieces, words, complete: true };
}
