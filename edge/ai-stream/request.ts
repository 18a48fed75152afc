import { type Static, Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { checkKeepable } from '../input/json.ts';
import { step } from '../input/pointer.ts';
import { createCheck, createInspection, refuseProblems } from '../input/schema.ts';
import { AnyObject, closed, optional, text } from '../schemas/common.ts';
import { BusyPolicy, Content, contentJson } from '../schemas/content.ts';

export const AiRequest = closed(
  {
    content: optional(Content),
    busy_policy: optional(BusyPolicy),
    messages: optional(
      Type.Array(AnyObject('A UIMessage.'), {
        minItems: 1,
        description: "What AI SDK's transport sends in place of content. Only the last one is looked at.",
      }),
    ),
    id: optional(text('The chat of the client; it means nothing here.')),
    trigger: optional(Type.Enum(['submit-message', 'regenerate-message'])),
    messageId: optional(text('The message of the client; it means nothing here.')),
  },
  { description: 'Either content, or messages as AI SDK has them.' },
);

const UserMessage = Type.Object({
  role: Type.Literal('user'),
  parts: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() }), { minItems: 1 }),
});

const Answered = Type.Object({
  approval: Type.Object({
    id: Type.String(),
    approved: Type.Boolean(),
    reason: optional(Type.String({ maxLength: 2_000 })),
  }),
});

/** What somebody says to a question of the turn. */
export interface Answer {
  approvalId: string;
  approved: boolean;
  reason: string;
}

export type Ask =
  | { kind: 'message'; contentJson: string; busyPolicy: string }
  | { kind: 'answers'; answers: Answer[] };

const checkForm = createCheck(AiRequest);
const inspectUserMessage = createInspection(UserMessage);
const inspectAnswered = createInspection(Answered);

/**
 * What a request asks for. Of the messages only what is asked with is judged: the others hold what models and tools
 * have said, which may be anything. Refused with INVALID_REQUEST or INVALID_TEXT.
 */
export function readAsk(value: unknown): Ask {
  const { content, messages, trigger, busy_policy: busyPolicy = 'enqueue' } = checkForm(value);
  if (content !== undefined && messages) throw refuseField('/messages', 'cannot stand beside content');
  if (content !== undefined) return say(content, busyPolicy);
  if (!messages) throw refuseField('/content', 'is required');
  const isAgain = trigger === 'regenerate-message';
  const index = isAgain ? messages.findLastIndex(({ role }) => role === 'user') : messages.length - 1;
  const message = messages[index];
  if (!message) throw refuseField('/messages', 'hold none of the user');
  const pointer = `/messages${step(index)}`;
  if (message.role === 'assistant') return { kind: 'answers', answers: answersOf(message, pointer) };
  refuseUnfit(inspectUserMessage(message), pointer);
  const { parts } = message as Static<typeof UserMessage>;
  return say(
    parts.map((part) => ({ type: part.type, text: part.text })),
    busyPolicy,
  );
}

function say(content: Static<typeof Content>, busyPolicy: string): Ask {
  checkKeepable({ content });
  return { kind: 'message', contentJson: contentJson(content), busyPolicy };
}

function answersOf({ parts }: Record<string, unknown>, pointer: string): Answer[] {
  const answers: Answer[] = [];
  for (const [index, part] of (Array.isArray(parts) ? parts : []).entries()) {
    if (part?.state !== 'approval-responded') continue;
    const at = `${pointer}/parts${step(index)}`;
    refuseUnfit(inspectAnswered(part), at);
    const { id, approved, reason = '' } = (part as Static<typeof Answered>).approval;
    if (!isId('apr', id)) throw refuseField(`${at}/approval/id`, 'is not the id of an approval');
    checkKeepable({ reason });
    answers.push({ approvalId: id, approved, reason });
  }
  if (answers.length === 0) throw refuseField(`${pointer}/parts`, 'hold no answer to an approval');
  return answers;
}

function refuseUnfit(problems: ReturnType<typeof inspectAnswered>, pointer: string): void {
  if (problems.length === 0) return;
  throw refuseProblems(problems.map((one) => ({ ...one, pointer: pointer + one.pointer })));
}
