/**
 * The table of built-in tools. Agents are validated against it, the runner implements each tool, and the reference is
 * generated from it.
 */

/**
 * The effect of a repeated call with the same input: no side effect (`read`), the same state as after one call
 * (`idempotent`), or the side effect once more (`once`). After a crash the first two are repeated automatically; `once`
 * needs an approval.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** `allow` runs the call, `ask` waits for a user's approval, `deny` returns a refusal to the model. */
export const PERMISSIONS = ['allow', 'ask', 'deny'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export interface ToolKind {
  effect: ToolEffect;
  /** The default when the agent sets none. */
  permission: Permission;
  /** The description that the model gets. */
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
  load_skill: {
    effect: 'read',
    permission: 'allow',
    about: 'Reads the instructions of a skill, or another file of it. Offered to agents with skills.',
  },
  mcp_list_resources: {
    effect: 'read',
    permission: 'ask',
    about:
      'Lists the resources of an MCP server: their URIs, names and types, and templates of further URIs.',
  },
  mcp_read_resource: {
    effect: 'read',
    permission: 'ask',
    about: 'Reads a resource of an MCP server by its URI. Images and other files are stored in .outputs/.',
  },
  ask_user: {
    effect: 'read',
    permission: 'allow',
    about:
      'Asks the user a question and waits for the answer, which can take hours. The user fills in a form: `schema` is a ' +
      'flat JSON Schema object of strings, numbers, booleans and enums.',
  },
} as const satisfies Record<string, ToolKind>;

export type ToolName = keyof typeof TOOLS;

/** The tool whose calls a person answers. */
export const ASK_USER = 'ask_user' satisfies ToolName;

/** The tools that read resources of MCP servers. Only turns with such servers have them. */
export const RESOURCE_TOOLS = ['mcp_list_resources', 'mcp_read_resource'] as const satisfies ToolName[];

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}
