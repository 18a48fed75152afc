import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Catalogue, CatalogueTool } from '../../../../lib/mcp-catalogue/catalogue.ts';
import { definitionBytes, MAX_OFFERED_BYTES } from '../../../../lib/mcp-catalogue/tool-definition.ts';
import { mcpToolName } from '../../../../lib/mcp-catalogue/tool-names.ts';
import { PERMISSIONS, type Permission, type ToolEffect } from '../../../../lib/tools.ts';
import type { McpServerRuntime } from '../../../../proto/gen/ahs/agents/v1/agents.ts';

/** A tool of a server as its review offers it. */
export interface OfferedTool {
  server: McpServerRuntime;
  /** The tool as the server names it. */
  remote: CatalogueTool;
  definition: LanguageModelV4FunctionTool;
  permission: Permission;
  effect: ToolEffect;
  /** UTF-8 bytes of the definition. */
  bytes: number;
}

export interface ReviewedServer {
  server: McpServerRuntime;
  /** The reviewed catalogue. */
  catalogue: Catalogue;
}

/**
 * The tools that the reviews of the servers offer, in the order of the names of servers and tools, up to the limits of an
 * agent. The definitions contain reviewed text only.
 */
export function offeredTools(reviewed: readonly ReviewedServer[], maxTools: number): OfferedTool[] {
  const byName = reviewed.toSorted((one, other) => (one.server.name < other.server.name ? -1 : 1));
  const offered: OfferedTool[] = [];
  let bytes = 0;
  for (const tool of byName.flatMap(toolsOf)) {
    bytes += tool.bytes;
    if (offered.length === maxTools || bytes > MAX_OFFERED_BYTES) return offered;
    offered.push(tool);
  }
  return offered;
}

function toolsOf({ server, catalogue }: ReviewedServer): OfferedTool[] {
  const rules = new Map(server.rules.map((rule) => [rule.name, rule]));
  return catalogue.tools.flatMap((remote) => {
    const rule = rules.get(remote.name);
    if (!rule?.offered || rule.permission === 'deny') return [];
    return {
      ...{ server, remote, ...shownTool(server.name, remote) },
      permission: PERMISSIONS.find((one) => one === rule.permission) ?? 'ask',
      effect: EFFECTS.find((one) => one === rule.effect) ?? 'once',
    };
  });
}

type ShownTool = Pick<OfferedTool, 'definition' | 'bytes'>;

/** Kept with the tool of the catalogue, because it is the same in each turn. */
const shownTools = new WeakMap<CatalogueTool, { server: string; shown: ShownTool }>();

function shownTool(server: string, remote: CatalogueTool): ShownTool {
  const known = shownTools.get(remote);
  if (known?.server === server) return known.shown;
  const { description, input_schema: inputSchema } = remote;
  const name = mcpToolName(server, remote.name);
  const definition: OfferedTool['definition'] = { type: 'function', name, description, inputSchema };
  const shown = { definition, bytes: definitionBytes(server, remote) };
  shownTools.set(remote, { server, shown });
  return shown;
}

const EFFECTS: readonly ToolEffect[] = ['read', 'idempotent', 'once'];

/** The instructions of the servers that offer them, as elements for the system prompt, by the names of the servers. */
export function offeredInstructions(reviewed: readonly ReviewedServer[]): Map<string, string> {
  const offered = reviewed.filter(
    ({ server, catalogue }) => server.offerInstructions && catalogue.instructions !== '',
  );
  return new Map(
    offered.map(({ server: { name }, catalogue }) => {
      // The text cannot end the element that contains it.
      const text = catalogue.instructions.replaceAll('<', '&lt;');
      return [name, `<mcp_server_instructions server="${name}">\n${text}\n</mcp_server_instructions>`];
    }),
  );
}
