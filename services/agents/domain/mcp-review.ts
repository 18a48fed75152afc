import { refuse } from '../../../lib/errors.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';
import type { Catalogue, CatalogueTool, JsonObject } from '../../../lib/mcp-catalogue/catalogue.ts';
import { type CatalogueDiff, diffCatalogues } from '../../../lib/mcp-catalogue/diff.ts';
import {
  definitionBytes,
  levelsOf,
  MAX_DESCRIPTION_BYTES,
  MAX_OFFERED_BYTES,
  MAX_SCHEMA_BYTES,
  MAX_SCHEMA_LEVELS,
} from '../../../lib/mcp-catalogue/tool-definition.ts';
import { mcpToolName } from '../../../lib/mcp-catalogue/tool-names.ts';
import { PERMISSIONS } from '../../../lib/tools.ts';

/** A decision about a tool. */
export interface ToolRule {
  name: string;
  offered: boolean;
  /** allow | ask | deny */
  permission: string;
  /** read | idempotent | once */
  effect: string;
}

const EFFECTS = ['read', 'idempotent', 'once'];

/** Refused with CATALOGUE_CHANGED unless the reviewed catalogue is the last seen one. */
export function checkSeen(sha256: string, seenSha256: string): void {
  if (seenSha256 !== '' && sha256 === seenSha256) return;
  throw refuse(
    'CATALOGUE_CHANGED',
    seenSha256 === ''
      ? 'No catalogue of this server has been seen. Probe the server first.'
      : 'The server has another catalogue than the reviewed one. Read the seen catalogue and review it.',
  );
}

/** The rules with the effect of each tool: that of the rule, of trusted annotations, or `once`. */
export function withEffects(
  rules: readonly ToolRule[],
  { tools }: Catalogue,
  { trustAnnotations }: { trustAnnotations: boolean },
): ToolRule[] {
  const annotations = new Map(tools.map((tool) => [tool.name, trustAnnotations ? tool.annotations : {}]));
  return rules.map((rule) => ({
    ...rule,
    effect: rule.effect || effectOf(annotations.get(rule.name) ?? {}),
  }));
}

function effectOf({ readOnlyHint, idempotentHint }: JsonObject): string {
  if (readOnlyHint === true) return 'read';
  return idempotentHint === true ? 'idempotent' : 'once';
}

/** A catalogue with the decisions about its tools. */
export interface ReviewedCatalogue {
  catalogue: Catalogue;
  rules: readonly ToolRule[];
}

/**
 * Returns the catalogue that a review approves: the seen one, in which pending tools keep the form and the rule of the earlier
 * review. While a tool is pending, so do title and instructions. Refused with INVALID_REQUEST unless the pending tools are
 * new or changed ones without a rule.
 */
export function approvedCatalogue(
  rules: readonly ToolRule[],
  pending: readonly string[],
  seen: Catalogue,
  earlier: ReviewedCatalogue | undefined,
): ReviewedCatalogue {
  if (pending.length === 0) return { catalogue: seen, rules };
  checkPending(pending, rules, diffCatalogues(earlier?.catalogue, seen));
  const isPending = ({ name }: { name: string }) => pending.includes(name);
  const { title, instructions, tools: earlierTools } = earlier?.catalogue ?? { ...seen, tools: [] };
  const tools = [...seen.tools.filter((tool) => !isPending(tool)), ...earlierTools.filter(isPending)];
  const kept = earlier?.rules.filter(isPending) ?? [];
  return { catalogue: { title, instructions, tools }, rules: [...rules, ...kept] };
}

function checkPending(
  pending: readonly string[],
  rules: readonly ToolRule[],
  { added, changed }: CatalogueDiff,
): void {
  const problems = new FieldProblems();
  const undecided = new Set([...added, ...changed.map(({ name }) => name)]);
  for (const { name } of rules) undecided.delete(name);
  for (const [index, name] of pending.entries()) {
    if (!undecided.delete(name))
      problems.add(`/pending/${index}`, 'must name a new or changed tool that occurs nowhere else');
  }
  problems.throwIfAny();
}

/**
 * Returns the number and size of the offered tools. Refused with INVALID_REQUEST unless the rules name each tool of the
 * catalogue exactly once and the offered tools keep the limits.
 */
export function checkRules(
  server: string,
  rules: readonly ToolRule[],
  { tools }: Catalogue,
): { offeredCount: number; offeredBytes: number } {
  const problems = new FieldProblems();
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const missing = new Set(byName.keys());
  const offeredNames = new Set<string>();
  let offeredBytes = 0;
  for (const [index, rule] of rules.entries()) {
    const pointer = `/tools/${index}`;
    const tool = byName.get(rule.name);
    problems.oneOf(`${pointer}/permission`, rule.permission, PERMISSIONS);
    problems.oneOf(`${pointer}/effect`, rule.effect, EFFECTS);
    if (!tool) problems.add(`${pointer}/name`, 'must name a tool of the catalogue');
    const isNew = missing.delete(rule.name);
    if (tool && !isNew) problems.add(`${pointer}/name`, 'must not repeat an earlier tool');
    if (!tool || !isNew || !rule.offered) continue;
    checkOffered(tool, pointer, problems);
    const name = mcpToolName(server, tool.name);
    if (offeredNames.has(name))
      problems.add(`${pointer}/name`, `must not have the same name for models as an earlier tool: ${name}`);
    offeredNames.add(name);
    offeredBytes += definitionBytes(server, tool);
  }
  if (missing.size > 0)
    problems.add('/tools', `must name every tool of the catalogue; ${missing.size} are missing`);
  if (offeredBytes > MAX_OFFERED_BYTES)
    problems.add('/tools', 'must offer tools of at most 256 KiB in total');
  problems.throwIfAny();
  return { offeredCount: offeredNames.size, offeredBytes };
}

function checkOffered(
  { description, input_schema }: CatalogueTool,
  pointer: string,
  problems: FieldProblems,
) {
  if (Buffer.byteLength(description) > MAX_DESCRIPTION_BYTES)
    problems.add(`${pointer}/offered`, 'must be false: the description is longer than 4 KiB');
  if (Buffer.byteLength(JSON.stringify(input_schema)) > MAX_SCHEMA_BYTES)
    problems.add(`${pointer}/offered`, 'must be false: the input schema is longer than 64 KiB');
  if (levelsOf(input_schema) > MAX_SCHEMA_LEVELS)
    problems.add(`${pointer}/offered`, 'must be false: the input schema has more than 32 levels');
}
