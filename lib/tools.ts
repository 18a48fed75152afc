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
  bash: {
    effect: 'once',
    permission: 'allow',
    about:
      'Runs a command with bash in the sandbox of this session, in /workspace. What it changes there is kept; the ' +
      'rest of the sandbox may be gone later.',
  },
  read_file: {
    effect: 'read',
    permission: 'allow',
    about: 'Shows lines of a text file of the workspace, each behind its number and a tab.',
  },
  write_file: {
    effect: 'idempotent',
    permission: 'allow',
    about: 'Writes a file of the workspace whole: a new one, or over the one that is there.',
  },
  edit_file: {
    effect: 'idempotent',
    permission: 'allow',
    about: 'Replaces an exact piece of a text file of the workspace by another one.',
  },
  list_files: {
    effect: 'read',
    permission: 'allow',
    about: 'Lists what is in a directory of the workspace. Symlinks are shown and not followed.',
  },
  search_files: {
    effect: 'read',
    permission: 'allow',
    about: 'Finds the lines of the text files of the workspace that match a regular expression.',
  },
} as const satisfies Record<string, ToolKind>;

export type ToolName = keyof typeof TOOLS;

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}
