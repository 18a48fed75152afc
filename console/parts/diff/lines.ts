/** A line of two texts: in both, only in the first, or only in the second. */
export interface Line {
  kind: 'same' | 'gone' | 'new';
  text: string;
}

/** More comparisons than this, and the middle of two texts counts as rewritten. */
const MAX_COMPARISONS = 4_000_000;

/** How the lines of one text become those of another, with as many kept as there can be. */
export function diffLines(before: string, after: string): Line[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [
    ...marked('same', a.slice(0, start)),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...marked('same', a.slice(a.length - end)),
  ];
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'));
const marked = (kind: Line['kind'], texts: string[]): Line[] => texts.map((text) => ({ kind, text }));

/** By the longest common subsequence. */
function diffMiddle(a: string[], b: string[]): Line[] {
  if (a.length * b.length > MAX_COMPARISONS) return [...marked('gone', a), ...marked('new', b)];
  const width = b.length + 1;
  // How many lines can be kept of what follows a line of each.
  const kept = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => kept[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      kept[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [gone, come] = [a[i], b[j]];
    if (gone !== undefined && gone === come) {
      lines.push({ kind: 'same', text: gone });
      i++;
      j++;
    } else if (gone !== undefined && (come === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'gone', text: gone });
      i++;
    } else if (come !== undefined) {
      lines.push({ kind: 'new', text: come });
      j++;
    }
  }
  return lines;
}

/** Lines to show, or how many alike are left out. */
export type Piece = Line[] | number;

/** The changed lines with a few around them. */
export function piecesOf(lines: Line[], around = 3): Piece[] {
  const shown = new Set<number>();
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'same') for (let near = index - around; near <= index + around; near++) shown.add(near);
  const pieces: Piece[] = [];
  for (const [index, line] of lines.entries()) {
    const last = pieces.at(-1);
    if (shown.has(index)) {
      if (Array.isArray(last)) last.push(line);
      else pieces.push([line]);
    } else if (typeof last === 'number') pieces[pieces.length - 1] = last + 1;
    else pieces.push(1);
  }
  return pieces;
}
