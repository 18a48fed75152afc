import { describe, expect, it } from 'vitest';
import { excerptOf } from '../../../services/runner/tools/bash/output-excerpt.ts';
import { Transcript } from '../../../services/runner/tools/bash/transcript.ts';

type Print = readonly [stream: 'stdout' | 'stderr', text: string];

function excerptOfPrints(prints: readonly Print[], keptBytes = 1_000_000) {
  const transcript = new Transcript(keptBytes);
  for (const [stream, text] of prints) transcript.add(Buffer.from(text), stream);
  const excerpt = excerptOf(transcript, 'cut');
  return { ...excerpt, stderr: excerpt.stderrRanges.map(({ start, end }) => excerpt.text.slice(start, end)) };
}

describe('excerptOf', () => {
  it('returns the parts that were printed to stderr', () => {
    const { text, stderr } = excerptOfPrints([
      ['stdout', 'größe 🦊\n'],
      ['stderr', 'wärning '],
      ['stderr', '🦊\n'],
      ['stdout', 'done\n'],
      ['stderr', 'last'],
    ]);
    expect(text).toBe('größe 🦊\nwärning 🦊\ndone\nlast');
    expect(stderr).toEqual(['wärning 🦊\n', 'last']);
  });

  it('returns the visible parts of stderr when the middle of the output is left out', () => {
    const out = (length: number): Print => ['stdout', 'ö'.repeat(length)];
    const prints: Print[] = [
      ['stderr', 'first'],
      out(20_000),
      ['stderr', 'hidden'],
      out(20_000),
      ['stderr', 'last'],
    ];
    for (const keptBytes of [1_000_000, 62_000]) {
      const { text, isCut, stderr } = excerptOfPrints(prints, keptBytes);
      expect(isCut).toBe(true);
      expect(text).toMatch(/^firstö+\n\[cut\]\nö+last$/);
      expect(stderr).toEqual(['first', 'last']);
    }
  });

  it('keeps the first and the last ranges of an output with many', () => {
    const prints = Array.from({ length: 2_000 }, (_, index): Print[] => [
      ['stdout', '.'],
      ['stderr', `${index} `],
    ]).flat();
    const { stderr } = excerptOfPrints(prints);
    expect(stderr).toHaveLength(500);
    expect([stderr[0], stderr.at(-1)]).toEqual(['0 ', '1999 ']);
  });
});
