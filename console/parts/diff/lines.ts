/** A line of a diff: in both texts, only in the first, or only in the second. */
export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** With more comparisons than this, all lines between the common start and end count as changed. */
const MAX_COMPARISONS = 4_000_000;

/** Returns a line diff that keeps as many lines as possible. */
export function diffLines(before: string, after: string): DiffLine[] {
  return diffParts(linesOf(before), linesOf(after));
}

/** Returns a diff of two texts that are divided into lines or words. */
export function diffParts(a: string[], b: string[]): DiffLine[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [
    ...linesOfKind('same', a.slice(0, start)),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...linesOfKind('same', a.slice(a.length - end)),
  ];
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'));
const linesOfKind = (kind: DiffLine['kind'], texts: string[]): DiffLine[] =>
  texts.map((text) => ({ kind, text }));

/** Diffs by the longest common subsequence. */
function diffMiddle(a: string[], b: string[]): DiffLine[] {
  if (a.length * b.length > MAX_COMPARISONS)
    return [...linesOfKind('removed', a), ...linesOfKind('added', b)];
  const width = b.length + 1;
  // kept[i, j] is the length of the longest common subsequence of a[i…] and b[j…].
  const kept = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => kept[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      kept[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [removed, added] = [a[i], b[j]];
    if (removed !== undefined && removed === added) {
      lines.push({ kind: 'same', text: removed });
      i++;
      j++;
    } else if (removed !== undefined && (added === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'removed', text: removed });
      i++;
    } else if (added !== undefined) {
      lines.push({ kind: 'added', text: added });
      j++;
    }
  }
  return lines;
}

/** Lines to show, or the number of unchanged lines that are omitted. */
export type DiffHunk = DiffLine[] | number;

/** Returns the changed lines with `context` unchanged lines around them. */
export function hunksOf(lines: DiffLine[], context = 3): DiffHunk[] {
  const shown = new Set<number>();
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'same') for (let near = index - context; near <= index + context; near++) shown.add(near);
  const hunks: DiffHunk[] = [];
  for (const [index, line] of lines.entries()) {
    const last = hunks.at(-1);
    if (shown.has(index)) {
      if (Array.isArray(last)) last.push(line);
      else hunks.push([line]);
    } else if (typeof last === 'number') hunks[hunks.length - 1] = last + 1;
    else hunks.push(1);
  }
  return hunks;
}
