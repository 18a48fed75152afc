import { describe, expect, it } from 'vitest';
import { changesOf, withLaterChanges } from '../../console/parts/editor/changes.ts';
import { readObject, readSchema, readTexts, writeObject } from '../../console/parts/editor/json.ts';
import { BUILT_IN_TOOLS } from '../../console/parts/editor/tools.ts';
import { TOOLS as BUILT_IN } from '../../lib/tools.ts';

describe('agent editor', () => {
  it('lists every built-in tool of the service', () => {
    expect(BUILT_IN_TOOLS.map(({ name }) => name).sort()).toEqual(Object.keys(BUILT_IN).sort());
  });

  it('sends only changed fields and ignores the order of object members', () => {
    const before = { name: 'a', options: { one: 1, two: { three: 3, four: 4 } }, list: [1, 2] };
    const after = { name: 'b', options: { two: { four: 4, three: 3 }, one: 1 }, list: [2, 1] };
    expect(changesOf(before, after)).toEqual({ name: 'b', list: [2, 1] });
  });

  it('keeps what was typed while a save was in flight, and takes the rest as the service has saved it', () => {
    const sent = { name: ' a ', memory: '64', processes: '' };
    const current = { ...sent, processes: '50' };
    const saved = { name: 'a', memory: '64', processes: '' };
    expect(withLaterChanges(saved, sent, current)).toEqual({ name: 'a', memory: '64', processes: '50' });
    expect(withLaterChanges(saved, sent, sent)).toEqual(saved);
  });

  it('parses JSON objects and reports an error for any other text', () => {
    expect(readObject(' ')).toEqual({ value: {} });
    expect(readObject('{"a": [1]}')).toEqual({ value: { a: [1] } });
    for (const text of ['[]', 'null', '"a"', '1']) expect(readObject(text).problem).toContain('JSON object');
    expect(readObject('{').problem).toContain('Invalid JSON');
    expect(readTexts('{"a": 1}').problem).toContain('“a”');
    expect(readTexts(writeObject({ b: 'c' }))).toEqual({ value: { b: 'c' } });
  });

  it('parses a JSON Schema as an object, a boolean or nothing', () => {
    expect(readSchema(' ')).toEqual({ value: null });
    expect(readSchema('false')).toEqual({ value: false });
    expect(readSchema('{"type": "object"}')).toEqual({ value: { type: 'object' } });
    for (const text of ['[]', 'null', '"a"', '1']) expect(readSchema(text).problem).toContain('JSON Schema');
    expect(readSchema('{').problem).toContain('Invalid JSON');
  });
});
