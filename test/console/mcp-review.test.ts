import { describe, expect, it } from 'vitest';
import type { McpCatalogue, McpToolRule, ReviewedMcpTool } from '../../console/gen/types.gen.ts';
import { compareTools, preselectedRule, ruleOf } from '../../console/pages/mcp-servers/review/decisions.ts';
import { visibleParts } from '../../console/parts/text/visible-text.ts';

const RULE: McpToolRule = { offered: true, permission: 'allow', effect: 'read' };
const tool = (name: string, members: Partial<ReviewedMcpTool> = {}): ReviewedMcpTool => ({
  ...{ name, title: '', description: name, input_schema: { type: 'object' }, output_schema: null },
  ...{ annotations: {}, warnings: [], rule: null },
  ...members,
});
const catalogue = (...tools: ReviewedMcpTool[]): McpCatalogue => ({
  ...{ sha256: '0', title: '', instructions: '', warnings: [], offer_resources: false },
  tools,
});
const only = (seen: ReviewedMcpTool, reviewed: McpCatalogue | null = null) => {
  const [compared] = compareTools(catalogue(seen), reviewed).tools;
  if (compared === undefined) throw new Error('no tool');
  return compared;
};

describe('the review of an MCP server', () => {
  it('tells new, changed, unchanged and removed tools apart', () => {
    const reviewed = catalogue(
      tool('same', { rule: RULE }),
      tool('other', { rule: RULE, description: 'before' }),
      tool('gone'),
    );
    const { tools, removed } = compareTools(catalogue(tool('same'), tool('other'), tool('fresh')), reviewed);
    expect(tools.map(({ state }) => state)).toEqual(['unchanged', 'changed', 'new']);
    expect(removed).toEqual(['gone']);
  });

  it.each([
    [{ readOnlyHint: true, idempotentHint: true }, 'read'],
    [{ idempotentHint: true }, 'idempotent'],
    [{}, 'once'],
  ])('preselects the effect of a new tool with the annotations %j as %s', (annotations, effect) => {
    const expected = { offered: true, permission: 'ask', effect };
    expect(preselectedRule(only(tool('find', { annotations })))).toEqual(expected);
  });

  it('does not offer a new tool with invisible characters', () => {
    const warnings = [{ kind: 'invisible_characters' as const, pointer: '/description' }];
    expect(preselectedRule(only(tool('find', { warnings }))).offered).toBe(false);
  });

  it('keeps the reviewed rule of a changed tool', () => {
    const before = catalogue(tool('find', { description: 'before', rule: RULE }));
    expect(preselectedRule(only(tool('find'), before))).toEqual(RULE);
  });

  it('keeps a decision about an equal tool and drops it when the tool changes', () => {
    const decisions = { find: { tool: tool('find'), rule: RULE } };
    expect(ruleOf(only(tool('find')), decisions)).toEqual(RULE);
    expect(ruleOf(only(tool('find', { description: 'Other.' })), decisions).permission).toBe('ask');
  });

  it('shows invisible characters as code points', () => {
    expect(visibleParts('a\u200bb\u{e0041}\n\u001b')).toEqual([
      { text: 'a', isMark: false },
      { text: 'U+200B', isMark: true },
      { text: 'b', isMark: false },
      { text: 'U+E0041', isMark: true },
      { text: '\n', isMark: false },
      { text: 'U+001B', isMark: true },
    ]);
  });
});
