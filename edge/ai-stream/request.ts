import { type Static, Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { pointerStep } from '../../lib/json-schema/pointer.ts';
import type { InlineData } from '../input/inline-data.ts';
import { checkStorable } from '../input/json.ts';
import { createCheck, createInspector } from '../input/schema.ts';
import { AnyObject, closed, optional, text } from '../schemas/common.ts';
import { BusyPolicySchema, MessageContent, type ReadContent, readContent } from '../schemas/content.ts';
import { type Answers, readAnswers, refuseSchemaProblems } from './answers.ts';

export const AiRequest = closed(
  {
    content: optional(MessageContent),
    busy_policy: optional(BusyPolicySchema),
    messages: optional(
      Type.Array(AnyObject('A UIMessage.'), {
        minItems: 1,
        description:
          "The messages of AI SDK's transport, instead of `content`. Only the last message is used.",
      }),
    ),
    id: optional(text('The id of the chat in the client. Ignored.')),
    trigger: optional(Type.Enum(['submit-message', 'regenerate-message'])),
    messageId: optional(text('The id of the message in the client. Ignored.')),
  },
  { description: 'Either `content`, or the `messages` of AI SDK.' },
);

const UserMessage = Type.Object({
  role: Type.Literal('user'),
  parts: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() }), { minItems: 1 }),
});

export type TurnRequest =
  | ({ kind: 'message'; busyPolicy: string } & ReadContent)
  | { kind: 'answers'; answers: Answers };

const checkForm = createCheck(AiRequest);
const inspectUserMessage = createInspector(UserMessage);

/**
 * Reads the message or the answers of a request. Only the message that is used is validated, because the others
 * contain arbitrary output of models and tools. Refuses with INVALID_REQUEST or INVALID_TEXT.
 */
export function readTurnRequest(value: unknown, inlineData?: InlineData): TurnRequest {
  const { content, messages, trigger, busy_policy: busyPolicy = 'enqueue' } = checkForm(value);
  if (content !== undefined && messages) throw refuseField('/messages', 'must not be combined with content');
  if (content !== undefined) return messageRequest(content, busyPolicy, inlineData);
  if (!messages) throw refuseField('/content', 'is required');
  const regenerates = trigger === 'regenerate-message';
  const index = regenerates ? messages.findLastIndex(({ role }) => role === 'user') : messages.length - 1;
  const message = messages[index];
  if (!message) throw refuseField('/messages', 'contains no user message');
  const pointer = `/messages${pointerStep(index)}`;
  if (message.role === 'assistant') return { kind: 'answers', answers: readAnswers(message, pointer) };
  refuseSchemaProblems(inspectUserMessage(message), pointer);
  const { parts } = message as Static<typeof UserMessage>;
  return messageRequest(
    parts.map((part) => ({ type: part.type, text: part.text })),
    busyPolicy,
  );
}

function messageRequest(
  content: Static<typeof MessageContent>,
  busyPolicy: string,
  inlineData?: InlineData,
): TurnRequest {
  checkStorable({ content });
  return { kind: 'message', busyPolicy, ...readContent(content, '/content', inlineData) };
}
