import { type Static, Type } from 'typebox';
import { refuseField } from '../../../../lib/errors.ts';
import { createCheck } from '../../../input/schema.ts';
import { closed, optional } from '../../../schemas/common.ts';
import type { ContentParts } from '../../../schemas/content.ts';
import { filePart, imagePart } from '../inline-parts.ts';
import type { ChatMessage } from '../messages.ts';
import { commonParameters, nullish } from '../parameters.ts';

const MAX_MESSAGES = 2_000;

const Part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() }),
  Type.Object({ type: Type.Literal('image_url'), image_url: Type.Object({ url: Type.String() }) }),
  Type.Object({
    type: Type.Literal('file'),
    file: Type.Object({ file_data: Type.String(), filename: optional(Type.String()) }),
  }),
]);

const Message = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant']),
  content: nullish(Type.Union([Type.String(), Type.Array(Part)])),
});
type Message = Static<typeof Message>;

/** Only the format `text` and schemas have a counterpart. */
const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    json_schema: Type.Object({ schema: Type.Object({}, { additionalProperties: true }) }),
  }),
]);

const Body = closed(
  {
    model: Type.String({ minLength: 1, maxLength: 200 }),
    messages: Type.Array(Message, { minItems: 1, maxItems: MAX_MESSAGES }),
    stream: nullish(Type.Boolean()),
    stream_options: nullish(
      closed({ include_usage: optional(Type.Boolean()), include_obfuscation: optional(Type.Boolean()) }),
    ),
    metadata: nullish(Type.Record(Type.String(), Type.String())),
    response_format: nullish(ResponseFormat),
    ...commonParameters,
  },
  { title: 'ChatCompletionRequest' },
);

const check = createCheck(Body);

export interface ChatRequest {
  model: string;
  /** The messages before the last one. */
  past: ChatMessage[];
  message: ChatMessage;
  stream: boolean;
  includesUsage: boolean;
  metadata: Record<string, string>;
  outputSchema: object | undefined;
  /** The request, for the names of ignored parameters. */
  body: object;
}

/** Reads a request. Refuses with INVALID_REQUEST what has no counterpart. */
export function readChatRequest(value: unknown): ChatRequest {
  const body = check(value);
  const messages = body.messages.map((message, index) => ({
    role: message.role,
    parts: partsOf(message, `/messages/${index}/content`),
  }));
  const message = messages.pop();
  if (message?.role !== 'user') throw refuseField(`/messages/${messages.length}/role`, 'must be user');
  if (message.parts.length === 0)
    throw refuseField(`/messages/${messages.length}/content`, 'must not be empty');
  const format = body.response_format;
  return {
    model: body.model,
    past: messages,
    message,
    stream: body.stream === true,
    includesUsage: body.stream_options?.include_usage === true,
    metadata: body.metadata ?? {},
    outputSchema: format?.type === 'json_schema' ? format.json_schema.schema : undefined,
    body,
  };
}

function partsOf({ role, content }: Message, pointer: string): ContentParts {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.map((part, index) => {
    if (part.type === 'text') return part;
    if (part.type === 'refusal') return { type: 'text', text: part.refusal };
    if (role !== 'user') throw refuseField(`${pointer}/${index}/type`, 'must be text');
    return part.type === 'image_url'
      ? imagePart(part.image_url.url, `${pointer}/${index}/image_url/url`)
      : filePart(part.file.file_data, part.file.filename, `${pointer}/${index}/file/file_data`);
  });
}
