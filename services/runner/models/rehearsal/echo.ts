import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isBlankAt, lastUserText, usageOf } from './prompt.ts';

/** Texts up to SHORT_CHARS are streamed word by word, longer ones in about LONG_PIECES pieces. */
const SHORT_CHARS = 2_048;
const LONG_PIECES = 1_024;

/** `rehearsal/echo` streams the last user message back unchanged, word by word, without delay. */
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
      const { pieces, words, complete } = splitWords(lastUserText(prompt), maxOutputTokens);
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

interface WordPieces {
  /** Concatenated they are the text or its first `words` words. */
  pieces: string[];
  words: number;
  complete: boolean;
}

/** Splits a text into pieces of whole words with the white space behind them, up to `maxWords` words. */
function splitWords(text: string, maxWords = Number.POSITIVE_INFINITY): WordPieces {
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
