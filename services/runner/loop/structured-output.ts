import type { JSONSchema7, JSONValue } from '@ai-sdk/provider';
import type { AssistantContent, ModelMessage } from 'ai';
import type { EventData } from '../../../lib/events.ts';
import type { SchemaValidator } from '../../../lib/json-schema/validator.ts';

/** The output schema of a turn. */
export interface OutputSchema {
  json: string;
  schema: JSONSchema7 | boolean;
}

type OutputError = NonNullable<EventData<'agent.message'>['output_error']>;

/** The result of a check: the members of `agent.message`. */
export type CheckedOutput = { output: JSONValue } | { output_error: OutputError };

/** The output is also stored with the turn, which lists return. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** A turn fails when the model has given so many invalid answers. */
export const MAX_INVALID_OUTPUTS = 2;

/** Undefined when the answer is text. */
export function parseOutputSchema(json: string | undefined): OutputSchema | undefined {
  return json ? { json, schema: JSON.parse(json) } : undefined;
}

/** The schema for the native mode of providers. They accept only objects. */
export function nativeSchemaOf({ schema }: OutputSchema): JSONSchema7 | undefined {
  return typeof schema === 'object' && schema.type === 'object' ? schema : undefined;
}

/** The part of the system prompt for models without a native mode. */
export function outputInstruction({ json }: OutputSchema): string {
  return `Answer with one JSON value that matches this JSON Schema, and with no other text:\n${json}`;
}

/** Reads the text of an answer as JSON value and checks it. Never rejects for a text or schema of a user. */
export async function checkOutput(
  { json: schemaJson }: OutputSchema,
  content: AssistantContent,
  validator: Pick<SchemaValidator, 'validate'>,
): Promise<CheckedOutput> {
  const json = withoutFence(textOf(content));
  if (Buffer.byteLength(json) > MAX_OUTPUT_BYTES)
    return invalid([{ pointer: '', message: 'must be at most 1 MiB long' }]);
  const outcome = await validator.validate({ schemaJson, json });
  if (outcome.kind === 'valid') return { output: JSON.parse(json) };
  if (outcome.kind === 'invalid') return invalid(outcome.problems);
  return { output_error: { code: outcome.kind, problems: [{ pointer: '', message: outcome.message }] } };
}

/** The message that asks the model for another answer. */
export function invalidOutputMessage(error: OutputError): ModelMessage {
  const text = `Your answer is not valid:\n${problemLines(error)}\nAnswer again with only the corrected JSON value.`;
  return { role: 'user', content: text };
}

export function problemLines({ problems }: OutputError): string {
  return problems.map(({ pointer, message }) => `${pointer || 'The answer'} ${message}`).join('\n');
}

function invalid(problems: OutputError['problems']): CheckedOutput {
  return { output_error: { code: 'invalid', problems } };
}

function textOf(content: AssistantContent): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const FENCE = '```';

/** Many models put JSON into a code block of Markdown. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  const start = trimmed.indexOf('\n');
  const isFenced = trimmed.startsWith(FENCE) && trimmed.endsWith(FENCE) && start > 0;
  return isFenced ? trimmed.slice(start + 1, -FENCE.length) : trimmed;
}
