/** The line numbers, from 1, of the non-overlapping occurrences of `piece`. */
export function occurrenceLines(text: string, piece: string): number[] {
  const lines: number[] = [];
  let line = 1;
  let seen = 0;
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) {
    for (let end = text.indexOf('\n', seen); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) {
      line++;
      seen = end + 1;
    }
    lines.push(line);
  }
  return lines;
}

/** Replaces all occurrences literally. */
export function replaceAll(text: string, piece: string, other: string): string {
  return text.split(piece).join(other);
}
