import { canonicalJson } from './canonical-json.ts';
import type { Catalogue, CatalogueTool } from './catalogue.ts';

/** The differences between the tools of two catalogues, each in the order of names. */
export interface CatalogueDiff {
  added: string[];
  removed: string[];
  changed: ToolChange[];
}

export interface ToolChange {
  name: string;
  members: ToolMember[];
}

const MEMBERS = ['title', 'description', 'input_schema', 'output_schema', 'annotations'] as const;
type ToolMember = (typeof MEMBERS)[number];

export function diffCatalogues(before: Catalogue | undefined, after: Catalogue): CatalogueDiff {
  const former = toolsByName(before);
  const current = toolsByName(after);
  return {
    added: [...current.keys()].filter((name) => !former.has(name)),
    removed: [...former.keys()].filter((name) => !current.has(name)),
    changed: [...current].flatMap(([name, tool]) => {
      const members = changedMembers(former.get(name), tool);
      return members.length > 0 ? [{ name, members }] : [];
    }),
  };
}

/** Names of the reviewed tools that a server no longer offers in the reviewed form. */
export function toolsToReview({ removed, changed }: CatalogueDiff): string[] {
  return [...removed, ...changed.map(({ name }) => name)].sort();
}

function changedMembers(before: CatalogueTool | undefined, after: CatalogueTool): ToolMember[] {
  if (!before) return [];
  return MEMBERS.filter((member) => canonicalJson(before[member]) !== canonicalJson(after[member]));
}

function toolsByName(catalogue: Catalogue | undefined): Map<string, CatalogueTool> {
  return new Map(catalogue?.tools.map((tool) => [tool.name, tool]));
}
