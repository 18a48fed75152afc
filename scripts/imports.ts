import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractRules from 'dependency-cruiser/config-utl/extract-depcruise-config';
import { root } from './tool.ts';

interface Finding {
  rule: string;
  from: string;
  /** The import that violates the rule. For a cycle, the complete cycle. */
  to: string;
  advice: string;
}

export interface Inspection {
  /** The number of source files that were read. */
  read: number;
  /** Source files that were not read and are therefore unchecked. */
  unread: string[];
  findings: Finding[];
}

/** Matches build output. */
const BUILT = /^console\/(dist|\.dist-[^/]+)\//;
const SOURCE = /\.(tsx?|mjs)$/;

/** Returns the names of all rules. */
export async function ruleNames(): Promise<string[]> {
  const { forbidden = [] } = await loadRules();
  return forbidden.map((rule) => rule.name ?? '');
}

/** Reads the source files of the folders in `base` and reports each import that violates a rule. */
export async function inspect(base: string, folders: readonly string[]): Promise<Inspection> {
  const { options, ...ruleSet } = await loadRules();
  const present = folders.filter((folder) => existsSync(join(base, folder)));
  const answer = await cruise(present, { ...options, baseDir: base, ruleSet, validate: true });
  const { modules, summary } = answer.output as ICruiseResult;
  const seen = new Set(modules.map((module) => module.source));
  const sources = (await Promise.all(present.map((folder) => sourcesOf(base, folder)))).flat();
  const advice = new Map(ruleSet.forbidden?.map((rule) => [rule.name, rule.comment ?? '']));
  return {
    read: sources.filter((path) => seen.has(path)).length,
    unread: sources.filter((path) => !seen.has(path)),
    findings: summary.violations.map(({ rule, from, to, cycle }) => ({
      rule: rule.name,
      from,
      to: cycle?.map((step) => step.name).join(' → ') ?? to,
      advice: advice.get(rule.name) ?? '',
    })),
  };
}

/** Returns whether all files were read, at least one, and no import violates a rule. */
export function isSound({ read, unread, findings }: Inspection): boolean {
  return read > 0 && unread.length === 0 && findings.length === 0;
}

function loadRules() {
  return extractRules(join(root, '.dependency-cruiser.mjs'));
}

async function sourcesOf(base: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(base, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && SOURCE.test(entry.name))
    .map((entry) => relative(base, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !BUILT.test(path));
}
