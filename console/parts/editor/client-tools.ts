import type { ClientTool, Tool } from '../../gen/index.ts';
import { readObject } from './json.ts';
import type { FieldProblems } from './problems.ts';

/** A client tool as the values of the form fields. */
export interface ClientToolDraft {
  /** Identifies the row of the form. */
  rowId: number;
  name: string;
  description: string;
  /** JSON text. */
  inputSchema: string;
}

/** Whether the client runs the tool. */
export function isClientTool(tool: Tool | ClientTool): tool is ClientTool {
  return 'type' in tool;
}

export function clientToolDrafts(tools: readonly (Tool | ClientTool)[]): ClientToolDraft[] {
  return tools.filter(isClientTool).map(({ name, description, input_schema: schema }, rowId) => ({
    ...{ rowId, name, description },
    inputSchema: JSON.stringify(schema, null, 2),
  }));
}

/** Parses the rows. A validation error has the pointer of its row, because the position of a row can change. */
export function readClientTools(rows: readonly ClientToolDraft[]): {
  tools: ClientTool[];
  problems: FieldProblems;
} {
  const problems: FieldProblems = {};
  const tools = rows.map((row): ClientTool => {
    const { name, description } = row;
    const schema = readInputSchema(row.inputSchema);
    const at = rowPointer(row);
    if (name.trim() === '') problems[`${at}/name`] = 'Enter a name.';
    if (description.trim() === '') problems[`${at}/description`] = 'Enter a description.';
    if (schema.problem !== undefined) problems[`${at}/input_schema`] = schema.problem;
    return { type: 'client', name: name.trim(), description, input_schema: schema.value ?? {} };
  });
  return { tools, problems };
}

/** Parses the JSON Schema of an input. The service checks the rest of its rules. */
export const readInputSchema = (text: string) =>
  text.trim() === '' ? { problem: 'Enter a JSON Schema, for example {"type": "object"}.' } : readObject(text);

/** The pointer of the validation errors of a row that were found in the browser. */
export const rowPointer = ({ rowId }: ClientToolDraft): string => `/client_tools/${rowId}`;
