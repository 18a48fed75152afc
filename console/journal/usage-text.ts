import type { Turn, Usage } from '../gen/types.gen.ts';

/**
 * Formats the tokens of a turn. A model reports its tokens at the end of a request, so an interrupted turn may have none, which
 * is not zero. With `isPartial`, a request of the turn has no report.
 */
export function tokensText(usage: Usage, status: Turn['status'], isPartial = false): string {
  const { input_tokens: input, output_tokens: output } = usage;
  if (input === 0 && output === 0 && (status === 'interrupted' || isPartial)) return 'tokens unknown';
  const text = `${input.toLocaleString('en')} tokens in, ${output.toLocaleString('en')} out`;
  return isPartial ? `at least ${text}` : text;
}

/** Formats a number of things: "1 step", "2 steps". */
export const countText = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
