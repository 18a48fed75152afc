import { refuse } from '../../../../../lib/errors.ts';
import { FieldProblems } from '../../../../../lib/field-problems.ts';
import { isId } from '../../../../../lib/ids.ts';
import type { InboundEvent } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { commandInText, commandNamed } from '../commands.ts';
import { inboundEvent } from '../inbound-event.ts';
import { type JsonObject, parseObject } from '../json-members.ts';
import { accepted, EMPTY_OK, jsonAnswer, type Product } from '../product.ts';
import { readFiles } from './files.ts';
import { createMemberReader, type MemberReader } from './members.ts';
import { httpVerifier } from './verify.ts';

const TYPES = ['message', 'action', 'command'];
const DECISIONS = ['allow', 'deny'];
const COMMAND_NAMES = ['new', 'stop', 'status', 'link', 'unlink', 'help'];
const ID = { min: 1, max: 255 };
const MAX_NAME = 200;

/** Events have the form of the body that docs/how-to describes: `{type, conversation, user, message | action | command}`. */
export const http = {
  maxBodyBytes: 16 * 1024 * 1024,
  createVerifier: httpVerifier,
  decode: ({ body }) => parseObject(body),
  isCheck: () => false,

  parse(raw) {
    const problems = new FieldProblems();
    const members = createMemberReader(problems);
    const event = readEvent(raw, problems, members);
    problems.throwIfAny();
    return accepted(event);
  },

  answer(_, stored) {
    if (!stored) return EMPTY_OK;
    const { deliveryId, sessionId, isDuplicate } = stored;
    const data = { delivery_id: deliveryId, session_id: sessionId, duplicate: isDuplicate };
    return jsonAnswer(202, { code: 'OK', message: 'success', data });
  },
} satisfies Product;

function readEvent(raw: unknown, problems: FieldProblems, members: MemberReader): InboundEvent {
  if (raw === undefined) throw refuse('INVALID_REQUEST', 'The body is not a JSON object.', EMPTY_POINTER);
  const body = members.object(raw, '', ['type', 'conversation', 'user', ...TYPES]);
  const type = members.oneOf(body.type, '/type', TYPES);
  const user = members.object(body.user, '/user', ['id', 'name']);
  for (const name of TYPES)
    if (name !== type && body[name] !== undefined && TYPES.includes(type))
      problems.add(`/${name}`, `is not a member of the type ${type}`);
  const senderId = members.text(user.id, '/user/id', ID);
  const event = inboundEvent({
    kind: type,
    place: {
      place: members.text(body.conversation, '/conversation', ID),
      thread: '',
      isGroup: false,
    },
    senderId,
    senderName: members.optionalText(user.name, '/user/name', { max: MAX_NAME }) || senderId,
    mentionsBot: true,
  });
  if (type === 'message') readMessage(event, body, problems, members);
  if (type === 'action') readAction(event, body, problems, members);
  if (type === 'command') readCommand(event, body, members);
  return event;
}

const EMPTY_POINTER = { details: [{ pointer: '', message: 'must be a JSON object' }] };

function readMessage(
  event: InboundEvent,
  body: JsonObject,
  problems: FieldProblems,
  members: MemberReader,
): void {
  const message = members.object(body.message, '/message', ['id', 'text', 'files']);
  const id = members.text(message.id, '/message/id', ID);
  event.text = members.text(message.text, '/message/text');
  event.files = readFiles(message.files, problems, members);
  if (message.text === '' && event.files.length === 0) problems.add('/message/text', 'must not be empty');
  const command = event.files.length === 0 ? commandInText(event.text) : undefined;
  if (command) Object.assign(event, { kind: 'command', command });
  Object.assign(event, { dedupeKey: `message:${id}`, messageId: id, messageExternalId: id });
}

function readAction(
  event: InboundEvent,
  body: JsonObject,
  problems: FieldProblems,
  members: MemberReader,
): void {
  const action = members.object(body.action, '/action', ['id', 'approval_id', 'decision']);
  event.dedupeKey = `action:${members.text(action.id, '/action/id', ID)}`;
  event.approvalId = members.text(action.approval_id, '/action/approval_id');
  if (typeof action.approval_id === 'string' && !isId('apr', event.approvalId))
    problems.add('/action/approval_id', 'must be the id of an approval');
  event.decision = members.oneOf(action.decision, '/action/decision', DECISIONS);
}

function readCommand(event: InboundEvent, body: JsonObject, members: MemberReader): void {
  const command = members.object(body.command, '/command', ['id', 'name']);
  event.dedupeKey = `command:${members.text(command.id, '/command/id', ID)}`;
  event.command = commandNamed(members.oneOf(command.name, '/command/name', COMMAND_NAMES)) ?? '';
}
