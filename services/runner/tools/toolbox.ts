import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { SchemaValidator } from '../../../lib/json-schema/validator.ts';
import { allToolsOf } from '../../../lib/mcp-catalogue/tool-names.ts';
import { ASK_USER, PERMISSIONS, type Permission, TOOLS } from '../../../lib/tools.ts';
import type { Tool as AgentTool } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { askUser } from './ask-user.ts';
import { type ClientTool, type ClientToolSpec, createClientTool } from './client-tool.ts';
import { LOAD_SKILL } from './skills/load-skill.ts';
import type { RegisteredTool, ToolRegistry } from './tool.ts';

/** The tools of one version of an agent. */
export interface Toolbox {
  /** Definitions for the model of all tools that the agent may use. */
  definitions: LanguageModelV4FunctionTool[];
  find(name: string): RegisteredTool | ClientTool | undefined;
  /** `deny` for a tool that does not exist. */
  permissionOf(name: string): Permission;
}

/** Tools that an agent version does not name. */
export interface MoreTools {
  /** Those that a message or conversation adds. They take precedence over client tools of the agent with the same name. */
  clientTools?: readonly ClientToolSpec[];
  /** Those of MCP servers, whose kinds have the permissions of the reviews, and those that read their resources. */
  serverTools?: readonly RegisteredTool[];
}

/** Creates the toolbox of an agent version from its tools. */
export type ToolboxFactory = (agentTools: readonly AgentTool[], more?: MoreTools) => Toolbox;

/** The same tools with stricter permissions. A permission that is not stricter than that of the toolbox has no effect. */
export function restrictToolbox(
  toolbox: Toolbox,
  restrictions: readonly { name: string; permission: string }[],
): Toolbox {
  const levels = new Map(restrictions.map(({ name, permission }) => [name, levelOf(permission)]));
  const permissionOf = (name: string) => {
    const level = Math.max(levelOf(toolbox.permissionOf(name)), levels.get(name) ?? 0);
    return PERMISSIONS[level] ?? 'deny';
  };
  const definitions = toolbox.definitions.filter(({ name }) => permissionOf(name) !== 'deny');
  return { ...toolbox, definitions, permissionOf };
}

/** The position in PERMISSIONS, which begins with the least strict one. An unknown permission is the strictest. */
function levelOf(permission: string): number {
  const level = (PERMISSIONS as readonly string[]).indexOf(permission);
  return level < 0 ? PERMISSIONS.length - 1 : level;
}

/** Uses the permissions of the agent and, for tools that the agent does not list, the default of the tool. */
export function toolboxFactory(
  registry: ToolRegistry,
  validator: Pick<SchemaValidator, 'validate'>,
): ToolboxFactory {
  const defaults: [string, Permission][] = [...registry.values()].map(({ name, kind }) => [
    name,
    kind.permission,
  ]);
  return (agentTools, { clientTools = [], serverTools = [] } = {}) => {
    const tools = new Map<string, RegisteredTool | ClientTool>([...registry, [ASK_USER, askUser]]);
    const permissions = new Map([...defaults, [ASK_USER, TOOLS[ASK_USER].permission]]);
    for (const { name, permission } of agentTools) {
      const known = PERMISSIONS.find((one) => one === permission);
      if (known && tools.has(name)) permissions.set(name, known);
    }
    for (const tool of serverTools) {
      tools.set(tool.name, tool);
      permissions.set(tool.name, serverToolPermission(tool, agentTools));
    }
    // A later release may have a built-in tool with the name of a client tool, which keeps its meaning.
    for (const spec of [...agentTools.flatMap(clientToolOf), ...clientTools]) {
      tools.set(spec.name, createClientTool(spec, validator));
      permissions.set(spec.name, 'allow');
    }
    const permissionOf = (name: string) => permissions.get(name) ?? 'deny';
    // Only turns with skills offer the tool that reads them.
    const withoutSkills = [...tools.values()].filter((tool) => tool !== registry.get(LOAD_SKILL));
    const offered = withoutSkills.filter(({ name }) => permissionOf(name) !== 'deny');
    return {
      definitions: offered.map(({ definition }) => definition),
      find: (name) => tools.get(name),
      permissionOf,
    };
  };
}

/**
 * The stricter permission of the review and of the agent's entry for the tool, or else for all tools of its server. A tool for
 * resources has no review of its own.
 */
function serverToolPermission(
  { name, kind, server }: RegisteredTool,
  agentTools: readonly AgentTool[],
): Permission {
  const entryOf = (entry: string) => agentTools.find((tool) => tool.name === entry)?.permission;
  if (!server) return PERMISSIONS[levelOf(entryOf(name) ?? kind.permission)] ?? 'deny';
  const ofAgent = entryOf(name) ?? entryOf(allToolsOf(server.name));
  if (ofAgent === undefined) return kind.permission;
  return PERMISSIONS[Math.max(levelOf(kind.permission), levelOf(ofAgent))] ?? 'deny';
}

function clientToolOf({ name, client }: AgentTool): ClientToolSpec[] {
  return client ? [{ name, ...client }] : [];
}
