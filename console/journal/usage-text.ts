import type { Turn } from '../gen/types.gen.ts';

/** The tokens of a turn or of a model request. Those of older releases have no details. */
interface Tokens {
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens?: number;
  reasoning_tokens?: number;
  estimated?: boolean;
}

/** Formats tokens with their cached and reasoning part: "120 tokens in (100 cached), 8 out", with "about" for estimates. */
export function countedTokensText(tokens: Tokens): string {
  const { cached_input_tokens: cached = 0, reasoning_tokens: reasoning = 0, estimated = false } = tokens;
  const number = (count: number) => count.toLocaleString('en');
  const input = `${number(tokens.input_tokens)} tokens in${cached > 0 ? ` (${number(cached)} cached)` : ''}`;
  const output = `${number(tokens.output_tokens)} out${reasoning > 0 ? ` (${number(reasoning)} reasoning)` : ''}`;
  return `${estimated ? 'about ' : ''}${input}, ${output}`;
}

/**
 * Formats the tokens of a turn. Older releases count no tokens of a request that was cut, so an interrupted turn may have
 * none, which is not zero. With `isPartial`, a request of the turn has not ended.
 */
export function tokensText(usage: Tokens, status: Turn['status'], isPartial = false): string {
  const { input_tokens: input, output_tokens: output } = usage;
  if (input === 0 && output === 0 && (status === 'interrupted' || isPartial)) return 'tokens unknown';
  const text = countedTokensText(usage);
  return isPartial ? `at least ${text}` : text;
}

/** Formats a number of things: "1 step", "2 steps". */
export const countText = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
