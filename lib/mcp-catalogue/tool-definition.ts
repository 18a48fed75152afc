import { canonicalJson } from './canonical-json.ts';
import type { CatalogueTool } from './catalogue.ts';
import { mcpToolName } from './tool-names.ts';

/** Limits of the tools that are offered to a model. */
export const MAX_DESCRIPTION_BYTES = 4 * 1024;
export const MAX_SCHEMA_BYTES = 64 * 1024;
export const MAX_SCHEMA_LEVELS = 32;
/** Limit of the definitions of all tools of an agent. */
export const MAX_OFFERED_BYTES = 256 * 1024;
export const MAX_SERVERS = 20;

/** UTF-8 bytes of the definition of a tool of the server as a model sees it. */
export function definitionBytes(server: string, { name, description, input_schema }: CatalogueTool): number {
  return Buffer.byteLength(canonicalJson({ name: mcpToolName(server, name), description, input_schema }));
}

/** The levels of objects and arrays in a JSON value. */
export function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((most, member) => Math.max(most, levelsOf(member)), 0);
}
