import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { PERMISSIONS, type Permission } from '../../../lib/tools.ts';
import type { KnownTool, Tools } from './tool.ts';

/** The tools of one version of an agent. */
export interface Toolbox {
  /** Of all that it may use, for the model. */
  definitions: LanguageModelV4FunctionTool[];
  find(name: string): KnownTool | undefined;
  /** A tool that does not exist may not be used. */
  permissionOf(name: string): Permission;
}

/** What an agent says of a tool counts; what it does not say is the tool's default. */
export function createToolbox(tools: Tools, said: readonly { name: string; permission: string }[]): Toolbox {
  const permissions = new Map([...tools.values()].map(({ name, kind }) => [name, kind.permission]));
  for (const { name, permission } of said) {
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
