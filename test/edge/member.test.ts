import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberText } from '../../edge/input/member.ts';

describe('the text of a member', () => {
  it('keeps numbers, escapes and the order of members', () => {
    const text =
      '{ "a" : {"edited": 1}, "edited" :\n { "n": 12345678901234567890.10, "s" : "\\u00e9 , } \\"",\r\n "2":[ ] } , "z":0}';
    expect(memberText(text, 'edited')).toBe('{"n":12345678901234567890.10,"s":"\\u00e9 , } \\"","2":[]}');
    expect(memberText(text, 'z')).toBe('0');
    expect(memberText(text, 'n')).toBeUndefined();
    expect(memberText('{"\\u007a":1}', 'z')).toBe('1');
    expect(memberText('{}', 'z')).toBeUndefined();
  });

  it('is the member, wherever it stands and however it is spaced', () => {
    const space = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue(),
        space,
        (others, value, indent) => {
          const text = JSON.stringify({ ...others, wanted: value, ...others }, null, indent);
          expect(memberText(text, 'wanted')).toBe(JSON.stringify('wanted' in others ? others.wanted : value));
        },
      ),
    );
  });
});
