import { describe, expect, it } from 'vitest';
import { LabelSets } from '../../lib/label-sets.ts';

describe('LabelSets', () => {
  it('keeps the first combinations and replaces later ones', () => {
    const sets = new LabelSets(2);
    const choose = (name: string) => sets.choose([name, 'done'], () => ['other', 'done']);
    expect([choose('a'), choose('b'), choose('c'), choose('a')]).toEqual([
      ['a', 'done'],
      ['b', 'done'],
      ['other', 'done'],
      ['a', 'done'],
    ]);
  });

  it('cuts a long value without splitting a character', () => {
    const [value = ''] = new LabelSets(1).choose([`${'a'.repeat(79)}😀${'b'.repeat(1_000)}`], () => [
      'other',
    ]);
    expect(value).toHaveLength(81);
    expect(value.isWellFormed()).toBe(true);
  });
});
