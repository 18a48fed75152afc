import type { McpCatalogue, McpToolRule, ReviewedMcpTool } from '../../../gen/types.gen.ts';
import { isSame } from '../../../parts/editor/changes.ts';

/** A tool of the seen catalogue with its reviewed form; without one the tool is new. */
export interface ComparedTool {
  tool: ReviewedMcpTool;
  before: ReviewedMcpTool | undefined;
  state: 'new' | 'changed' | 'unchanged';
}

/** The decisions of the reviewer, each with the tool for which it was made. */
export type Decisions = Readonly<Record<string, { tool: ReviewedMcpTool; rule: McpToolRule }>>;

/** The parts of a tool that a model sees or that the review pins. */
const textsOf = ({ rule: _, warnings: __, ...texts }: ReviewedMcpTool) => texts;
const isSameTool = (a: ReviewedMcpTool, b: ReviewedMcpTool) => isSame(textsOf(a), textsOf(b));

/** Compares the seen catalogue with the reviewed one. Also returns the names of removed tools. */
export function compareTools(seen: McpCatalogue, reviewed: McpCatalogue | null) {
  const known = new Map(reviewed?.tools.map((tool) => [tool.name, tool]));
  const tools = seen.tools.map((tool): ComparedTool => {
    const before = known.get(tool.name);
    known.delete(tool.name);
    if (before === undefined) return { tool, before, state: 'new' };
    return { tool, before, state: isSameTool(before, tool) ? 'unchanged' : 'changed' };
  });
  return { tools, removed: [...known.keys()] };
}

/** Warnings that tools with honest texts rarely have. */
const SERIOUS = new Set(['invisible_characters', 'control_characters', 'instructions']);

function effectOf({ annotations }: ReviewedMcpTool): McpToolRule['effect'] {
  if (annotations.readOnlyHint === true) return 'read';
  return annotations.idempotentHint === true ? 'idempotent' : 'once';
}

/** A reviewed tool keeps its rule. A new one is offered with approval, unless its texts have a serious warning. */
export function preselectedRule({ tool, before }: ComparedTool): McpToolRule {
  if (before?.rule) return before.rule;
  const offered = !tool.warnings.some(({ kind }) => SERIOUS.has(kind));
  return { offered, permission: 'ask', effect: effectOf(tool) };
}

/** The decision about a tool. One that was made for another form of the tool does not count. */
export function ruleOf(compared: ComparedTool, decisions: Decisions): McpToolRule {
  const decided = decisions[compared.tool.name];
  return decided && isSameTool(decided.tool, compared.tool) ? decided.rule : preselectedRule(compared);
}
