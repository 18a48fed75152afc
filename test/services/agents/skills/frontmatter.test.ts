import { describe, expect, it } from 'vitest';
import { parseFrontmatter } from '../../../../services/agents/skill-archive/frontmatter.ts';
import { skillFile } from './archives.ts';

const parse = (lines: string[], name = 'pdf-forms', folder = '') =>
  parseFrontmatter(skillFile(name, lines), folder);
const DESCRIPTION = 'description: Fills in forms.';

describe('the frontmatter of SKILL.md', () => {
  it('has the members of the Agent Skills format, and others that are named', () => {
    const lines = [
      DESCRIPTION,
      'license: MIT',
      'compatibility: Requires Python.',
      'metadata:',
      '  version: "1.0"',
      'allowed-tools: [bash, read_file]',
      'model: other',
    ];
    expect(parse(lines)).toEqual({
      ...{ name: 'pdf-forms', description: 'Fills in forms.', license: 'MIT' },
      ...{ compatibility: 'Requires Python.', metadata: { version: '1.0' } },
      ...{ allowedTools: 'bash read_file', unknownMembers: ['model'] },
    });
  });

  it('accepts a byte order mark, CRLF and the name of the folder', () => {
    const text = `\ufeff${skillFile().replaceAll('\n', '\r\n')}`;
    expect(parseFrontmatter(text, 'pdf-forms').name).toBe('pdf-forms');
  });

  it.each([
    ['an upper-case name', [DESCRIPTION], 'Forms', '', /name of 1–64/],
    ['a long name', [DESCRIPTION], 'a'.repeat(65), '', /at most 64/],
    ['a number as name', [DESCRIPTION], '7', '', /text as name/],
    ['a hyphen at the end', [DESCRIPTION], 'a-', '', /name of 1–64/],
    ['the name of another folder', [DESCRIPTION], 'a', 'b', /name of its folder/],
    ['no description', [], 'a', '', /description of 1–1024/],
    ['an empty description', ['description: " "'], 'a', '', /description of 1–1024/],
    ['a long description', [`description: ${'d'.repeat(1_025)}`], 'a', '', /at most 1024/],
    ['a long compatibility', [DESCRIPTION, `compatibility: ${'d'.repeat(501)}`], 'a', '', /at most 500/],
    ['metadata that is no text', [DESCRIPTION, 'metadata: {a: 1}'], 'a', '', /members of text/],
    ['an alias', ['description: &a text', 'license: *a'], 'a', '', /without aliases/],
    ['a member twice', [DESCRIPTION, DESCRIPTION], 'a', '', /YAML/],
    ['a tag', ['description: !!js/function x'], 'a', '', /YAML/],
    ['text that is no YAML', ['description: [', DESCRIPTION], 'a', '', /YAML/],
    ['deep nesting', [`license: ${'['.repeat(8_000)}`, DESCRIPTION], 'a', '', /YAML/],
    ['more than 16 KiB', [DESCRIPTION, `license: ${'l'.repeat(17_000)}`], 'a', '', /16 KiB/],
  ])('is refused with %s', (_, lines, name, folder, message) => {
    expect(() => parse(lines, name, folder)).toThrow(message);
  });

  it('is refused without its delimiters', () => {
    expect(() => parseFrontmatter('# No frontmatter', '')).toThrow(/begin with frontmatter/);
    expect(() => parseFrontmatter('---\nname: a\n', '')).toThrow(/ends with a line/);
  });

  it('does not set a member of the prototype', () => {
    const { metadata } = parse([DESCRIPTION, 'metadata: {__proto__: x}']);
    expect(Object.keys(metadata)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  });
});
