/** A part of the output of a command. */
export interface OutputPart {
  text: string;
  isStderr: boolean;
}

/** Splits an output at the boundaries of the ranges that were printed to stderr. The ranges are in order. */
export function outputParts(
  text: string,
  stderrRanges: readonly { start: number; end: number }[],
): OutputPart[] {
  const parts: OutputPart[] = [];
  let done = 0;
  const add = (to: number, isStderr: boolean) => {
    if (to > done) parts.push({ text: text.slice(done, to), isStderr });
    done = Math.max(done, to);
  };
  for (const { start, end } of stderrRanges) {
    add(Math.min(start, text.length), false);
    add(Math.min(end, text.length), true);
  }
  add(text.length, false);
  return parts;
}
