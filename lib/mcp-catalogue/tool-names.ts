import { sha256 } from '../digest.ts';

/** The names of tools of MCP servers begin so; no other tool has such a name. */
export const MCP_PREFIX = 'mcp__';

const SEPARATOR = '__';
/** Model providers accept at most 64 letters, digits, underscores and hyphens. */
const MAX_NAME = 64;
const DIGEST_DIGITS = 6;

export const MCP_SERVER_NAME = /^[a-z][a-z0-9-]{0,31}$/;
/** The name of a server has no underscore, so its end is unambiguous. */
const ENTRY = /^mcp__([a-z][a-z0-9-]{0,31})__(\*|[A-Za-z0-9_-]+)$/;

/**
 * The name under which a model sees a tool. Characters that model providers refuse become underscores. A name that was
 * changed or cut ends in six hexadecimal digits of the SHA-256 of the original name.
 */
export function mcpToolName(server: string, tool: string): string {
  const name = `${MCP_PREFIX}${server}${SEPARATOR}${tool}`;
  const allowed = name.replace(/[^A-Za-z0-9_-]/gu, '_');
  if (allowed === name && name.length <= MAX_NAME) return name;
  const ending = `_${sha256(tool).slice(0, DIGEST_DIGITS)}`;
  return allowed.slice(0, MAX_NAME - ending.length) + ending;
}

/** The name of an agent's entry for all tools of a server that have no entry of their own. */
export const allToolsOf = (server: string) => `${MCP_PREFIX}${server}${SEPARATOR}*`;

/** Returns the server that an entry in the `tools` of an agent names; undefined if the entry names no MCP tool. */
export function serverOfEntry(name: string): string | undefined {
  return name.length <= MAX_NAME ? ENTRY.exec(name)?.[1] : undefined;
}
