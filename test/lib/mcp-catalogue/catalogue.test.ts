import { describe, expect, it } from 'vitest';
import { canonicalJson, MAX_LEVELS } from '../../../lib/mcp-catalogue/canonical-json.ts';
import { catalogueText, readCatalogue } from '../../../lib/mcp-catalogue/catalogue.ts';
import { diffCatalogues, toolsToReview } from '../../../lib/mcp-catalogue/diff.ts';
import { mcpToolName, serverOfEntry } from '../../../lib/mcp-catalogue/tool-names.ts';

const tool = (name: string, members: object = {}) => ({
  ...{ name, title: '', description: '', input_schema: {}, output_schema: null, annotations: {} },
  ...members,
});
const catalogue = (...tools: ReturnType<typeof tool>[]) => ({ title: '', instructions: '', tools });

describe('canonicalJson', () => {
  it('writes the example of RFC 8785', () => {
    const value = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    );
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts members by UTF-16 code units', () => {
    const value = { '\ufb33': 1, '\u{1f600}': 2, '\u20ac': 3, '\r': 4, 1: 5, __proto__: undefined };
    expect(Object.keys(JSON.parse(canonicalJson(value)))).toEqual([
      '1',
      '\r',
      '\u20ac',
      '\u{1f600}',
      '\ufb33',
    ]);
  });

  it('refuses lone surrogates and values that are too deep', () => {
    expect(() => canonicalJson('\ud800')).toThrow(TypeError);
    expect(() => canonicalJson({ '\ud800': 1 })).toThrow(TypeError);
    const deep = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    expect(canonicalJson(deep(MAX_LEVELS))).toHaveLength(2 * MAX_LEVELS);
    expect(() => canonicalJson(deep(MAX_LEVELS + 1))).toThrow(RangeError);
    expect(() => canonicalJson(deep(100_000))).toThrow(RangeError);
  });
});

describe('catalogueText', () => {
  it('does not depend on the order of tools and members', () => {
    const one = catalogueText(catalogue(tool('b', { input_schema: { x: 1, y: 2 } }), tool('a')));
    const other = catalogueText(catalogue(tool('a'), tool('b', { input_schema: { y: 2, x: 1 } })));
    expect(one).toEqual(other);
    expect(readCatalogue(one.json).tools.map(({ name }) => name)).toEqual(['a', 'b']);
  });
});

describe('diffCatalogues', () => {
  it('names added and removed tools and the changed members of others', () => {
    const before = catalogue(tool('a'), tool('b', { description: 'old' }), tool('c'));
    const after = catalogue(
      tool('b', { description: 'new', annotations: { readOnlyHint: true } }),
      tool('c'),
      tool('d'),
    );
    const diff = diffCatalogues(before, after);
    expect(diff).toEqual({
      added: ['d'],
      removed: ['a'],
      changed: [{ name: 'b', members: ['description', 'annotations'] }],
    });
    expect(toolsToReview(diff)).toEqual(['a', 'b']);
    expect(diffCatalogues(undefined, before)).toEqual({ added: ['a', 'b', 'c'], removed: [], changed: [] });
  });
});

describe('mcpToolName', () => {
  it('keeps a name that models accept', () => {
    expect(mcpToolName('git-hub', 'create_issue')).toBe('mcp__git-hub__create_issue');
    expect(mcpToolName('a', 'x'.repeat(56))).toHaveLength(64);
  });

  it('ends in the digest of the original name after a change or a cut', () => {
    expect(mcpToolName('files', 'read.file')).toMatch(/^mcp__files__read_file_[0-9a-f]{6}$/);
    const long = mcpToolName('a'.repeat(32), 'x'.repeat(200));
    expect(long).toMatch(/^mcp__a{32}__x{18}_[0-9a-f]{6}$/);
    const names = ['read.file', 'read/file', 'read file', 'read_file', 'réad_file'].map((name) =>
      mcpToolName('files', name),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of ['', '\u{1f600}', '__', 'a'.repeat(10_000)])
      expect(mcpToolName('s', name)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });
});

describe('serverOfEntry', () => {
  it('reads the server of an entry for one tool or all tools', () => {
    expect(serverOfEntry('mcp__git-hub__create__issue')).toBe('git-hub');
    expect(serverOfEntry('mcp__git-hub__*')).toBe('git-hub');
    for (const name of [
      'bash',
      'mcp__',
      'mcp__a__',
      'mcp__A__b',
      'mcp__a__b*',
      'mcp__a_b',
      `mcp__a__${'b'.repeat(60)}`,
    ])
      expect(serverOfEntry(name)).toBeUndefined();
  });
});
