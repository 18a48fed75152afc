import { describe, expect, it } from 'vitest';
import { changesOf } from '../../console/parts/editor/changes.ts';
import { readObject, readTexts, writeObject } from '../../console/parts/editor/json.ts';
import { TOOLS } from '../../console/parts/editor/tools.ts';
import { TOOLS as BUILT_IN } from '../../lib/tools.ts';

describe('the editor of agents', () => {
  it('knows the tools of this release', () => {
    expect(TOOLS.map(({ name }) => name).sort()).toEqual(Object.keys(BUILT_IN).sort());
  });

  it('sends what has changed, and not what is only in another order', () => {
    const before = { name: 'a', options: { one: 1, two: { three: 3, four: 4 } }, list: [1, 2] };
    const after = { name: 'b', options: { two: { four: 4, three: 3 }, one: 1 }, list: [2, 1] };
    expect(changesOf(before, after)).toEqual({ name: 'b', list: [2, 1] });
  });

  it('takes a JSON object, and says what is wrong with anything else', () => {
    expect(readObject(' ')).toEqual({ value: {} });
    expect(readObject('{"a": [1]}')).toEqual({ value: { a: [1] } });
    for (const text of ['[]', 'null', '"a"', '1']) expect(readObject(text).problem).toContain('JSON object');
    expect(readObject('{').problem).toContain('not JSON');
    expect(readTexts('{"a": 1}').problem).toContain('“a”');
    expect(readTexts(writeObject({ b: 'c' }))).toEqual({ value: { b: 'c' } });
  });
});
