import { type Static, Type } from 'typebox';
import { refuseField } from '../../../../lib/errors.ts';
import { createCheck } from '../../../input/schema.ts';
import { closed, optional } from '../../../schemas/common.ts';
import type { ContentParts } from '../../../schemas/content.ts';
import { filePart, imagePart } from '../inline-parts.ts';
import type { ChatMessage } from '../messages.ts';
import { commonParameters, nullish } from '../parameters.ts';

const MAX_ITEMS = 2_000;

const Part = Type.Union([
  Type.Object({ type: Type.Enum(['input_text', 'output_text']), text: Type.String() }),
  Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() }),
  Type.Object({ type: Type.Literal('input_image'), image_url: Type.String() }),
  Type.Object({
    type: Type.Literal('input_file'),
    file_data: Type.String(),
    filename: optional(Type.String()),
  }),
]);

/** Only messages: an agent has its own tools. */
const Item = Type.Object({
  type: optional(Type.Literal('message')),
  role: Type.Enum(['system', 'developer', 'user', 'assistant']),
  content: Type.Union([Type.String(), Type.Array(Part)]),
});
type Item = Static<typeof Item>;

const Format = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    schema: Type.Object({}, { additionalProperties: true }),
  }),
]);

const Body = closed(
  {
    model: Type.String({ minLength: 1, maxLength: 200 }),
    input: Type.Union([
      Type.String({ minLength: 1 }),
      Type.Array(Item, { minItems: 1, maxItems: MAX_ITEMS }),
    ]),
    instructions: nullish(Type.String({ maxLength: 262_144 })),
    stream: nullish(Type.Boolean()),
    stream_options: nullish(closed({ include_obfuscation: optional(Type.Boolean()) })),
    background: nullish(Type.Boolean()),
    conversation: nullish(Type.Union([Type.String(), Type.Object({ id: Type.String() })])),
    previous_response_id: nullish(Type.String()),
    metadata: nullish(Type.Record(Type.String(), Type.String())),
    text: nullish(closed({ format: optional(Format), verbosity: nullish(Type.Unknown()) })),
    ...commonParameters,
  },
  { title: 'ResponseCreation' },
);

const check = createCheck(Body);

/** A checked request. */
export interface ResponseRequest {
  model: string;
  /** The messages of the input before the last one. */
  past: ChatMessage[];
  message: ChatMessage;
  /** The place of the content of the message in the request. */
  pointer: string;
  instructions: string | undefined;
  stream: boolean;
  background: boolean;
  conversation: string | undefined;
  previousResponseId: string | undefined;
  metadata: Record<string, string>;
  outputSchema: object | undefined;
  /** The request, for the names of ignored parameters. */
  body: object;
}

/** Reads a request. Refuses with INVALID_REQUEST what has no counterpart. */
export function readResponseRequest(value: unknown): ResponseRequest {
  const body = check(value);
  const { conversation, previous_response_id: previousResponseId } = body;
  if (conversation && previousResponseId)
    throw refuseField('/previous_response_id', 'must not be given together with conversation');
  const items = typeof body.input === 'string' ? [textItem(body.input)] : body.input;
  const messages = items.map((item, index) => ({
    role: item.role,
    parts: partsOf(item, `/input/${index}/content`),
  }));
  const message = messages.pop();
  if (message?.role !== 'user') throw refuseField(`/input/${messages.length}/role`, 'must be user');
  const pointer = typeof body.input === 'string' ? '/input' : `/input/${messages.length}/content`;
  if (message.parts.length === 0) throw refuseField(pointer, 'must not be empty');
  const format = body.text?.format;
  return {
    model: body.model,
    past: messages,
    message,
    pointer,
    instructions: body.instructions || undefined,
    stream: body.stream === true,
    background: body.background === true,
    conversation: typeof conversation === 'object' ? conversation?.id : conversation,
    previousResponseId: previousResponseId ?? undefined,
    metadata: body.metadata ?? {},
    outputSchema: format?.type === 'json_schema' ? format.schema : undefined,
    body,
  };
}

const textItem = (content: string): Item => ({ role: 'user', content });

function partsOf({ role, content }: Item, pointer: string): ContentParts {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.map((part, index) => {
    if ('text' in part) return { type: 'text', text: part.text };
    if (part.type === 'refusal') return { type: 'text', text: part.refusal };
    if (role !== 'user') throw refuseField(`${pointer}/${index}/type`, 'must be a text');
    return part.type === 'input_image'
      ? imagePart(part.image_url, `${pointer}/${index}/image_url`)
      : filePart(part.file_data, part.filename, `${pointer}/${index}/file_data`);
  });
}
