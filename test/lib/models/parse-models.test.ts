import { describe, expect, it } from 'vitest';
import { parseModels } from '../../../lib/models/parse-models.ts';

describe('parseModels', () => {
  const YAML = `# Models of this site
models:
  - name: local/qwen3:8b
    context_window: 32768
    max_output: 8192
    capabilities: {tools: true, images: false, structured_output: false, caching: false}
  - name: local/llava
    media_types: [image/png, "text/*"]
`;
  const ENTRIES = [
    {
      name: 'local/qwen3:8b',
      contextWindow: 32_768,
      maxOutput: 8_192,
      capabilities: { tools: true, images: false, structuredOutput: false, caching: false },
    },
    { name: 'local/llava', capabilities: {}, mediaTypes: ['image/png', 'text/*'] },
  ];

  it('reads entries in YAML', () => {
    expect(parseModels(YAML)).toEqual({ entries: ENTRIES, problems: [] });
  });

  it('reads entries in JSON with tabs, and a list without an object around it', () => {
    const json = JSON.stringify(
      [
        {
          name: 'local/qwen3:8b',
          context_window: 32_768,
          max_output: 8_192,
          capabilities: { tools: true, images: false, structured_output: false, caching: false },
        },
        { name: 'local/llava', media_types: ['image/png', 'text/*'] },
      ],
      undefined,
      '\t',
    );
    expect(parseModels(json)).toEqual({ entries: ENTRIES, problems: [] });
  });

  it.each(['', '\n', '# None yet.\n'])('finds no entries in %j', (text) => {
    expect(parseModels(text)).toEqual({ entries: [], problems: [] });
  });

  it.each([
    ['models: none', 1, 'models'],
    ['{}', 1, 'models'],
    ['# comment\nmodel: []\nmodels: []', 2, 'model'],
    ['- local/a', 1, 'models'],
    ['- name: local/a\n  context_window: 1\n\n- context_window: 5', 4, 'name'],
    ['- name: qwen', 1, 'name'],
    ['- name: Local/qwen', 1, 'name'],
    ['- name: [local/qwen]', 1, 'name'],
    ['- name: rehearsal/ecko', 1, 'name'],
    ['- name: local/a\n- name: local/a', 2, 'name'],
    ['- name: local/a\n  window: 5', 2, 'window'],
    ['- name: local/a\n  context_window: 32k', 2, 'context_window'],
    ['- name: local/a\n  context_window: 0', 2, 'context_window'],
    ['- name: local/a\n  context_window: 1.5', 2, 'context_window'],
    ['- name: local/a\n  context_window:', 2, 'context_window'],
    ['- name: local/a\n  context_window: 10\n  max_output: 11', 3, 'max_output'],
    ['- name: openai/gpt-4\n  max_output: 9000', 2, 'max_output'],
    ['- name: openai/gpt-4o\n  context_window: 9000', 2, 'max_output'],
    ['- name: local/a\n  capabilities: [tools]', 2, 'capabilities'],
    ['- name: local/a\n  capabilities:\n    tools: yes', 3, 'capabilities.tools'],
    ['- name: local/a\n  capabilities:\n    tools: true\n    vision: true', 4, 'capabilities.vision'],
    ['- name: local/a\n  media_types: image/png', 2, 'media_types'],
    ['- name: local/a\n  media_types:\n    - image/png\n    - png', 4, 'media_types'],
    ['- name: local/a\n  media_types: [image/png]\n  capabilities: {images: false}', 2, 'media_types'],
    ['- name: local/a\n  name: local/b', 2, ''],
    ['{"models": [\n  {"name": "local/a",\n   "max_output": "5"}\n]}', 3, 'max_output'],
    ['{"models": [\n  {"name": "local/a"', 2, ''],
  ])('reports the line and the field of the problem in %j', (text, line, field) => {
    const { problems } = parseModels(text);
    expect(problems).toMatchObject([{ line, field }]);
    expect(problems[0]?.message).not.toBe('');
  });

  it('reports all problems and keeps the valid entries', () => {
    const { entries, problems } = parseModels(
      '- name: local/a\n- name: local/b\n  max_output: no\n  context_window: -1\n- name: local/c\n  tools: true\n',
    );
    expect(entries.map(({ name }) => name)).toEqual(['local/a']);
    expect(problems.map(({ line, field }) => `${line} ${field}`)).toEqual([
      '4 context_window',
      '3 max_output',
      '6 tools',
    ]);
  });
});
