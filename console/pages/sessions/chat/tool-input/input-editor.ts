import { jsonText } from '../../../../parts/text/json.ts';
import { isObject, parseInput } from './parsed-input.ts';

/** A field of the form that changes the input of a call. */
export interface EditableField {
  name: string;
  label: string;
  /** The text before it is changed. */
  text: string;
  isSingleLine: boolean;
}

export type EditedTexts = Readonly<Record<string, string>>;

/** The changed input, or the error of each invalid field. */
export type EditedInput =
  | { value: Record<string, unknown>; problems?: never }
  | { value?: never; problems: Readonly<Record<string, string>> };

/** Name of the field that holds a whole input as JSON. */
const JSON_FIELD = '';

const line = (name: string, label: string, text: string) => ({ name, label, text, isSingleLine: true });
const lines = (name: string, label: string, text: string) => ({ name, label, text, isSingleLine: false });

/** Returns the fields of an input: the texts of the tools that take texts, and JSON for other tools. */
export function editableFields(tool: string, input: unknown): EditableField[] {
  const parsed = parseInput(tool, input);
  switch (parsed.kind) {
    case 'command':
      return [lines('command', 'Command', parsed.command)];
    case 'write':
      return [line('path', 'Path', parsed.path), lines('content', 'Content', parsed.content)];
    case 'edit':
      return [
        line('path', 'Path', parsed.path),
        lines('old_text', 'Text to replace', parsed.oldText),
        lines('new_text', 'Replacement', parsed.newText),
      ];
    case 'fields':
      return [lines(JSON_FIELD, 'Edited input', jsonText(input))];
  }
}

const REQUIRED: EditedTexts = {
  command: 'Enter a command.',
  path: 'Enter a path.',
  old_text: 'Enter the text to replace.',
};

/** Returns the input with the edited texts. `texts` has only the fields that were edited. */
export function editedInput(
  input: unknown,
  fields: readonly EditableField[],
  texts: EditedTexts,
): EditedInput {
  const json = fields.find(({ name }) => name === JSON_FIELD);
  if (json) return parseObject(texts[JSON_FIELD] ?? json.text);
  const problems: Record<string, string> = {};
  const value: Record<string, unknown> = isObject(input) ? { ...input } : {};
  for (const { name, text } of fields) {
    const edited = texts[name];
    if (edited !== undefined) value[name] = withLineBreaksOf(text, edited);
    const problem = REQUIRED[name];
    if (value[name] === '' && problem !== undefined) problems[name] = problem;
  }
  return Object.keys(problems).length > 0 ? { problems } : { value };
}

/** Text fields convert line breaks to LF. A text whose line breaks were all CRLF keeps them. */
function withLineBreaksOf(before: string, edited: string): string {
  const hasOnlyCrlf = before.includes('\r\n') && !/(^|[^\r])\n/.test(before);
  return hasOnlyCrlf ? edited.replace(/\r?\n/g, '\r\n') : edited;
}

function parseObject(text: string): EditedInput {
  const problems = { [JSON_FIELD]: 'Enter a JSON object.' };
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { value } : { problems };
  } catch {
    return { problems };
  }
}
