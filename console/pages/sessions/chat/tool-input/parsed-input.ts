/** The input of a tool call. Inputs that a built-in tool does not expect are shown as fields, so that no part is hidden. */
export type ParsedInput =
  | { kind: 'command'; command: string; timeoutSeconds: number | undefined }
  | { kind: 'write'; path: string; content: string }
  | { kind: 'edit'; path: string; oldText: string; newText: string; replacesAll: boolean }
  | { kind: 'fields'; fields: [name: string, value: unknown][] };

/** A longer path is shown as a field, where it counts towards the size of the input. */
const MAX_PATH_CHARS = 200;

export function parseInput(tool: string, input: unknown): ParsedInput {
  if (!isObject(input)) return { kind: 'fields', fields: [['input', input]] };
  return builtInInput(tool, input) ?? { kind: 'fields', fields: Object.entries(input) };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function builtInInput(tool: string, input: Record<string, unknown>): ParsedInput | undefined {
  if (tool === 'bash') return commandInput(input);
  if (tool === 'write_file') return writeInput(input);
  return tool === 'edit_file' ? editInput(input) : undefined;
}

function commandInput({
  command,
  timeout_seconds: timeoutSeconds,
  ...others
}: Record<string, unknown>): ParsedInput | undefined {
  if (typeof command !== 'string' || !isEmpty(others)) return undefined;
  if (timeoutSeconds !== undefined && typeof timeoutSeconds !== 'number') return undefined;
  return { kind: 'command', command, timeoutSeconds };
}

function writeInput({ path, content, ...others }: Record<string, unknown>): ParsedInput | undefined {
  if (!isShortPath(path) || typeof content !== 'string' || !isEmpty(others)) return undefined;
  return { kind: 'write', path, content };
}

function editInput({
  path,
  old_text: oldText,
  new_text: newText,
  replace_all: replacesAll = false,
  ...others
}: Record<string, unknown>): ParsedInput | undefined {
  if (!isShortPath(path) || typeof oldText !== 'string' || typeof newText !== 'string') return undefined;
  if (typeof replacesAll !== 'boolean' || !isEmpty(others)) return undefined;
  return { kind: 'edit', path, oldText, newText, replacesAll };
}

const isEmpty = (others: object) => Object.keys(others).length === 0;
const isShortPath = (path: unknown): path is string =>
  typeof path === 'string' && path.length <= MAX_PATH_CHARS && !/[\r\n]/.test(path);
