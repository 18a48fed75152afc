import { describe, expect, it } from 'vitest';
import { type Prose, proseOf } from '../../scripts/language/prose.ts';
import { LANGUAGE_RULES, violationsOf } from '../../scripts/language/rules.ts';

/** One sentence that breaks each rule. */
const PLANTED: Record<string, string> = {
  somebody: 'A call waits until somebody decides.',
  nobody: 'Nobody reads this value.',
  whoever: 'Whoever holds the lease writes.',
  everybody: 'The agent is visible to everybody.',
  whatever: 'Retries whatever the cause.',
  'what is': 'What is sent is kept.',
};

const rulesBrokenBy = (path: string, text: string) =>
  proseOf(path, text).flatMap((prose) => violationsOf(prose.text).map(({ rule }) => rule.name));

/** The places in which each kind of file holds prose. */
const PLACES: Record<string, (sentence: string) => [path: string, text: string]> = {
  'a line comment': (sentence) => ['lib/a.ts', `const a = 1; // ${sentence}\n`],
  'a doc comment': (sentence) => ['lib/a.ts', `/**\n * ${sentence}\n */\nexport const a = 1;\n`],
  'a comment before a closing bracket': (sentence) => ['lib/a.ts', `const a = {\n  // ${sentence}\n};\n`],
  'a string literal': (sentence) => ['lib/a.ts', `export const a = ${JSON.stringify(sentence)};\n`],
  'a template literal': (sentence) => ['lib/a.ts', `export const a = \`\${1} ${sentence}\`;\n`],
  'JSX text': (sentence) => ['console/pages/a.tsx', `export const A = () => <p>\n  ${sentence}\n</p>;\n`],
  'a JSX attribute': (sentence) => [
    'console/pages/a.tsx',
    `export const A = () => <p title="${sentence}" />;\n`,
  ],
  'a test title': (sentence) => ['test/a.test.ts', `it('${sentence}', () => {});\n`],
  'a Markdown paragraph': (sentence) => ['docs/a.md', `# Title\n\n${sentence}\n`],
  'a Markdown list': (sentence) => ['docs/a.md', `- ${sentence}\n`],
  'a proto comment': (sentence) => ['proto/a.proto', `// ${sentence}\nmessage A {}\n`],
  'a comment in a settings file': (sentence) => ['deploy/a.yaml', `# ${sentence}\nkey: value\n`],
};

describe('language rules', () => {
  it('each have a planted violation in this file', () => {
    expect(Object.keys(PLANTED).sort()).toEqual(LANGUAGE_RULES.map(({ name }) => name).sort());
  });

  for (const [place, plant] of Object.entries(PLACES)) {
    it.each(Object.entries(PLANTED))(`reject "%s" in ${place}`, (rule, sentence) => {
      expect(rulesBrokenBy(...plant(sentence))).toEqual([rule]);
    });
  }

  it.each([
    ['inline code', 'docs/a.md', 'The user is `nobody`.'],
    ['a code block', 'docs/a.md', '```sh\nsu nobody\n```'],
    ['a line of /etc/passwd', 'lib/a.ts', "const a = 'nobody:x:65534:65534:an unprivileged user:/:/bin/sh';"],
    ['a question', 'docs/a.md', 'What is a session?'],
    ['an object clause', 'lib/a.ts', '// Shows what is enforced.'],
    ['a longer word', 'lib/a.ts', "const a = 'x-nobody-y is a name';"],
    ['an identifier', 'lib/a.ts', 'const nobody = 1;'],
    ['a one-word string', 'lib/a.ts', "const user = 'nobody';"],
  ])('accept %s', (_name, path, text) => {
    expect(rulesBrokenBy(path, text)).toEqual([]);
  });

  it('report the line of a violation', () => {
    const [comment] = proseOf(
      'lib/a.ts',
      'const a = 1;\n\n/**\n * First line.\n * Nobody reads it.\n */\nconst b = 2;\n',
    );
    const [violation] = violationsOf((comment as Prose).text);
    expect((comment as Prose).line + violation!.line).toBe(5);
  });
});
