import type { TextRange } from '../../tool-calls/tool-call.ts';
import { characterRanges } from './stderr-ranges.ts';
import type { Transcript } from './transcript.ts';

/** Maximum length of the output that the model gets, in UTF-16 units. */
const SHOWN_CHARS = 30_000;

export interface OutputExcerpt {
  text: string;
  /** Whether the middle of the output is left out. */
  isCut: boolean;
  /** The parts of `text` that were printed to stderr. */
  stderrRanges: TextRange[];
}

/** Returns the output of a command as text. Longer output is cut in the middle, where `note` stands in brackets. */
export function excerptOf(transcript: Transcript, note: string): OutputExcerpt {
  const { head, tail, leftOut } = transcript.kept;
  const ranges = transcript.stderrRanges;
  const whole = leftOut === 0 ? Buffer.concat([head, tail]) : undefined;
  const first = whole ?? head;
  const firstText = first.toString('utf8');
  const firstRanges = characterRanges(first, ranges, 0);
  if (whole && firstText.length <= SHOWN_CHARS)
    return { text: firstText, isCut: false, stderrRanges: firstRanges };
  const last = whole ?? tail;
  const lastText = whole ? firstText : last.toString('utf8');
  const lastRanges = whole ? firstRanges : characterRanges(last, ranges, transcript.bytes - last.length);

  const half = SHOWN_CHARS / 2;
  // Drops the halves of a surrogate pair that the cut split.
  const begin = firstText.slice(0, half).replace(/[\ud800-\udbff]$/, '');
  const end = lastText.slice(-half).replace(/^[\udc00-\udfff]/, '');
  const text = `${begin}\n[${note}]\n${end}`;
  const endAt = lastText.length - end.length;
  const shift = text.length - lastText.length;
  return {
    text,
    isCut: true,
    stderrRanges: [
      ...clipped(firstRanges, 0, begin.length),
      ...clipped(lastRanges, endAt, lastText.length).map((range) => ({
        start: range.start + shift,
        end: range.end + shift,
      })),
    ],
  };
}

/** Returns the parts of the ranges between two positions. */
function clipped(ranges: readonly TextRange[], from: number, to: number): TextRange[] {
  return ranges
    .map(({ start, end }) => ({ start: Math.max(start, from), end: Math.min(end, to) }))
    .filter(({ start, end }) => start < end);
}

/** The content of the workspace file that holds the output of a command when the excerpt is cut. */
export function* outputFile(transcript: Transcript): Generator<Uint8Array> {
  const { head, tail, leftOut } = transcript.kept;
  yield head;
  if (leftOut > 0) yield Buffer.from(`\n[${leftOut} bytes were left out here]\n`);
  if (tail.length > 0) yield tail;
}
