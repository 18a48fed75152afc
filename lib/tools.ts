/**
 * The table of built-in tools. Agents are checked against it, the runner implements each of them, and the reference
 * is generated from it.
 */

/**
 * What another call with the same input would do: nothing outside (`read`), the same as one call (`idempotent`), or
 * the same thing once more (`once`). The first two are sent again after a crash; the last one never silently.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** `allow` runs it, `ask` waits for somebody's approval, `deny` tells the model that it may not. */
export const PERMISSIONS = ['allow', 'ask', 'deny'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export interface ToolKind {
  effect: ToolEffect;
  /** For an agent that does not say. */
  permission: Permission;
  /** What the model is told it does. */
  about: string;
}

export const TOOLS = {
  current_time: {
    effect: 'read',
    permission: 'allow',
    about: 'Returns the current date and time, in UTC and in a time zone of your choice.',
  },
  calculator: {
    effect: 'read',
    permission: 'allow',
    about: 'Calculates an arithmetic expression exactly: + - * / % ^, parentheses and decimal numbers.',
  },
} as const satisfies Record<string, ToolKind>;

export type ToolName = keyof typeof TOOLS;

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}
