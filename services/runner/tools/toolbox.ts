import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { PERMISSIONS, type Permission } from '../../../lib/tools.ts';
import type { RegisteredTool, ToolRegistry } from './tool.ts';

/** The tools of one version of an agent. */
export interface Toolbox {
  /** Definitions for the model of all tools that the agent may use. */
  definitions: LanguageModelV4FunctionTool[];
  find(name: string): RegisteredTool | undefined;
  /** `deny` for a tool that does not exist. */
  permissionOf(name: string): Permission;
}

/** Uses the permissions of the agent and, for tools that the agent does not list, the default of the tool. */
export function createToolbox(
  tools: ToolRegistry,
  agentTools: readonly { name: string; permission: string }[],
): Toolbox {
  const permissions = new Map([...tools.values()].map(({ name, kind }) => [name, kind.permission]));
  for (const { name, permission } of agentTools) {
    const known = PERMISSIONS.find((one) => one === permission);
    if (known && tools.has(name)) permissions.set(name, known);
  }
  const permissionOf = (name: string) => permissions.get(name) ?? 'deny';
  const offered = [...tools.values()].filter(({ name }) => permissionOf(name) !== 'deny');
  return {
    definitions: offered.map(({ definition }) => definition),
    find: (name) => tools.get(name),
    permissionOf,
  };
}
