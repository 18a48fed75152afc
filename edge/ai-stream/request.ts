import { type Static, Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { pointerStep } from '../../lib/json-schema/pointer.ts';
import type { MessageOverrides } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { InlineData } from '../input/inline-data.ts';
import { checkStorable } from '../input/json.ts';
import { createCheck, createInspector } from '../input/schema.ts';
import { type ContentParts, type MessageContent, type ReadContent, readContent } from '../schemas/content.ts';
import { overridesOf } from '../schemas/overrides.ts';
import { type Answers, readAnswers } from './answers.ts';
import { AiRequest } from './schemas.ts';
import { readSentPart, refuseSchemaProblems } from './sent-parts.ts';

const UserMessage = Type.Object({ role: Type.Literal('user'), parts: Type.Array(Type.Object({})) });
export type TurnRequest =
  | ({ kind: 'message'; busyPolicy: string; overrides: MessageOverrides | undefined } & ReadContent)
  | {
      kind: 'regeneration';
      turnId: string;
      question: string | undefined;
      overrides: MessageOverrides | undefined;
    }
  | { kind: 'answers'; answers: Answers };

const checkForm = createCheck(AiRequest);
const inspectUserMessage = createInspector(UserMessage);

/**
 * Reads the message or the answers of a request. Only the message that is used is validated, because the others
 * contain arbitrary output of models and tools. Refuses with INVALID_REQUEST or INVALID_TEXT.
 */
export function readTurnRequest(value: unknown, sessionId: string, inlineData?: InlineData): TurnRequest {
  const body = checkForm(value);
  const { content, messages, trigger, messageId, busy_policy: busyPolicy = 'enqueue' } = body;
  const overrides = overridesOf(body);
  if (trigger === 'regenerate-message') return { ...regeneration(content, messages, messageId), overrides };
  if (content !== undefined && messages) throw refuseField('/messages', 'must not be combined with content');
  if (content !== undefined) return { ...messageRequest(content, busyPolicy, inlineData), overrides };
  if (!messages) throw refuseField('/content', 'is required');
  const index = messages.length - 1;
  const message = messages[index];
  if (!message) throw refuseField('/messages', 'contains no message');
  const pointer = `/messages${pointerStep(index)}`;
  if (message.role === 'assistant')
    return { kind: 'answers', answers: readAnswers(message, pointer, sessionId) };
  refuseSchemaProblems(inspectUserMessage(message), pointer);
  const parts = readParts(message as Static<typeof UserMessage>, pointer, sessionId);
  return { ...messageRequest(parts, busyPolicy), overrides };
}

/** Pages add parts of type `data-*` for their own use. They are not sent. */
function readParts({ parts }: Static<typeof UserMessage>, pointer: string, sessionId: string): ContentParts {
  const content = parts.flatMap((part, index): ContentParts => {
    const { type } = part as { type?: unknown };
    if (typeof type === 'string' && type.startsWith('data-')) return [];
    const at = `${pointer}/parts${pointerStep(index)}`;
    if (type !== 'text' && type !== 'file') throw refuseField(`${at}/type`, 'must be text, file or data-*');
    return [readSentPart(part, at, sessionId)];
  });
  if (content.length === 0) throw refuseField(`${pointer}/parts`, 'must contain a part that can be sent');
  return content;
}

/**
 * The answer to regenerate: that of the named turn, or the last one. The id of another message belongs to the client, so the
 * text of the last user message tells whether the client means the last answer.
 */
function regeneration(
  content: Static<typeof MessageContent> | undefined,
  messages: readonly Record<string, unknown>[] | undefined,
  messageId: string | undefined,
) {
  if (content !== undefined) throw refuseField('/content', 'must not be given to regenerate an answer');
  if (messageId !== undefined && isId('trn', messageId))
    return { kind: 'regeneration' as const, turnId: messageId, question: undefined };
  const message = messages?.findLast(({ role }) => role === 'user');
  if (messages && !message) throw refuseField('/messages', 'contains no user message');
  return { kind: 'regeneration' as const, turnId: '', question: message && textOf(message) };
}

/** The joined text of a message. */
export function textOf({ parts }: Record<string, unknown>): string {
  return (Array.isArray(parts) ? parts : [])
    .map((part) => (part?.type === 'text' && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

function messageRequest(content: string | ContentParts, busyPolicy: string, inlineData?: InlineData) {
  checkStorable({ content });
  return { kind: 'message' as const, busyPolicy, ...readContent(content, '/content', inlineData) };
}
