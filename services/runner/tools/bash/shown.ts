import type { Transcript } from './transcript.ts';

/** What a model is shown of one command, in UTF-16 units. */
const SHOWN_CHARS = 30_000;

export interface Shown {
  text: string;
  /** Not all of it is shown. */
  isCut: boolean;
}

/** What a command has printed, as text, cut in the middle. `where` is what is said of the rest. */
export function show(transcript: Transcript, where: string): Shown {
  const { head, tail, leftOut } = transcript.kept;
  const half = SHOWN_CHARS / 2;
  if (leftOut === 0) {
    const all = Buffer.concat([head, tail]).toString('utf8');
    if (all.length <= SHOWN_CHARS) return { text: all, isCut: false };
    return { text: joined(all.slice(0, half), all.slice(-half), where), isCut: true };
  }
  const [first, last] = [head.toString('utf8').slice(0, half), tail.toString('utf8').slice(-half)];
  return { text: joined(first, last, where), isCut: true };
}

/** A character that is cut in two is left out. */
function joined(first: string, last: string, where: string): string {
  const begin = first.replace(/[\ud800-\udbff]$/, '');
  const end = last.replace(/^[\udc00-\udfff]/, '');
  return `${begin}\n[${where}]\n${end}`;
}

/** What is put into the workspace of an output that is not shown whole. */
export function* fileOf(transcript: Transcript): Generator<Uint8Array> {
  const { head, tail, leftOut } = transcript.kept;
  yield head;
  if (leftOut > 0) yield Buffer.from(`\n[${leftOut} bytes were left out here]\n`);
  if (tail.length > 0) yield tail;
}
