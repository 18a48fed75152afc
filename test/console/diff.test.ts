import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedFields } from '../../console/parts/diff/fields.ts';
import { diffLines, type Line, piecesOf } from '../../console/parts/diff/lines.ts';

const texts = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  .map((lines) => lines.join('\n'));
const side = (lines: Line[], left: Line['kind']) =>
  lines.flatMap(({ kind, text }) => (kind === left ? [] : [text])).join('\n');

describe('the difference of two texts', () => {
  it('holds both of them', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const lines = diffLines(before, after);
        expect(side(lines, 'new')).toBe(before);
        expect(side(lines, 'gone')).toBe(after);
      }),
    );
  });

  it('keeps what can be kept', () => {
    const lines = diffLines('one\ntwo\nthree', 'one\nthree\nfour');
    expect(lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'same one',
      'gone two',
      'same three',
      'new four',
    ]);
  });

  it('is there at once for texts that have nothing in common', () => {
    const many = (word: string) => Array.from({ length: 20_000 }, (_, index) => word + index).join('\n');
    const lines = diffLines(many('a'), many('b'));
    expect(lines).toHaveLength(40_000);
  });

  it('is shown with a few lines around each change', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = before.with(10, 'another');
    const pieces = piecesOf(diffLines(before.join('\n'), after.join('\n')));
    expect(pieces.map((piece) => (typeof piece === 'number' ? piece : piece.length))).toEqual([7, 8, 6]);
  });
});

describe('the fields that differ', () => {
  it('are named in their order, with both texts', () => {
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
