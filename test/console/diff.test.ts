import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedFields } from '../../console/parts/diff/fields.ts';
import { type DiffLine, diffLines, hunksOf } from '../../console/parts/diff/lines.ts';

const texts = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  .map((lines) => lines.join('\n'));
const side = (lines: DiffLine[], left: DiffLine['kind']) =>
  lines.flatMap(({ kind, text }) => (kind === left ? [] : [text])).join('\n');

describe('diffLines', () => {
  it('contains the complete text of both sides', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const lines = diffLines(before, after);
        expect(side(lines, 'added')).toBe(before);
        expect(side(lines, 'removed')).toBe(after);
      }),
    );
  });

  it('keeps the lines that both texts share', () => {
    const lines = diffLines('one\ntwo\nthree', 'one\nthree\nfour');
    expect(lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'same one',
      'removed two',
      'same three',
      'added four',
    ]);
  });

  it('handles long texts without common lines quickly', () => {
    const many = (word: string) => Array.from({ length: 20_000 }, (_, index) => word + index).join('\n');
    const lines = diffLines(many('a'), many('b'));
    expect(lines).toHaveLength(40_000);
  });

  it('is grouped by hunksOf with context lines around each change', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = before.with(10, 'another');
    const hunks = hunksOf(diffLines(before.join('\n'), after.join('\n')));
    expect(hunks.map((hunk) => (typeof hunk === 'number' ? hunk : hunk.length))).toEqual([7, 8, 6]);
  });
});

describe('changedFields', () => {
  it('returns the changed fields in order with both texts', () => {
    const before = [
      { label: 'Model', text: 'one' },
      { label: 'Steps', text: '1' },
    ];
    const after = [
      { label: 'Model', text: 'one' },
      { label: 'Steps', text: '2' },
    ];
    expect(changedFields(before, after)).toEqual([{ label: 'Steps', before: '1', after: '2' }]);
  });
});
