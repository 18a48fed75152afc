import { Type } from 'typebox';
import { list, ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed, count, id, optional, pageRequest, paging } from '../schemas/common.ts';
import {
  BusyPolicySchema,
  CONTENT_ERRORS,
  MESSAGE_BYTES,
  MessageContent,
  PinnedSchema,
  readContent,
  refuseContentAt,
} from '../schemas/content.ts';
import { MessageShape, serializeMessage } from '../schemas/messages.ts';
import { overrideMembers, overridesOf } from '../schemas/overrides.ts';
import { replayed } from './replayed.ts';
import { turnMember, waitedTurn, waitSeconds } from './turn-wait.ts';

export const messageRoutes = [
  route({
    method: 'POST',
    path: '/sessions/{session_id}/messages',
    operationId: 'sendMessage',
    tag: 'Sessions',
    summary: 'Send a message',
    description:
      'Queues a turn. If the session is busy, `enqueue` waits for the earlier turns, `reject` fails with SESSION_BUSY, ' +
      '`interrupt` ends the turn that runs, waits for an approval or is next, and `steer` gives the message to that turn before ' +
      'its next model step. The queued turn is then completed with `delivered_to_turn_id`, and the event ' +
      '`user.message_delivered` names the step. If the turn ends first, the message is the next turn. A message with `steer` ' +
      'has no overrides, because the settings of a running turn are fixed. The content may have images and files: from the ' +
      'workspace of the session, from the body or from uploads. With `pinned` the model gets the message verbatim in all later ' +
      'turns, also when the older conversation is replaced by a summary. Above 8 pinned messages of a session, or 16 KiB of ' +
      'their texts, images and files, the answer is PINNED_LIMIT_EXCEEDED.',
    headers: ['Idempotency-Key'],
    body: closed({
      content: MessageContent,
      busy_policy: optional(BusyPolicySchema),
      pinned: optional(PinnedSchema),
      wait_seconds: waitSeconds,
      ...overrideMembers,
    }),
    bodyLimit: MESSAGE_BYTES,
    inlineData: true,
    example: { content: 'And then?' },
    success: {
      status: 202,
      description: 'The turn is queued.',
      data: Type.Object({
        turn_id: id('trn', 'the new turn'),
        seq: count('The seq of the `user.message` event.'),
        turn: optional(waitedTurn),
      }),
    },
    errors: [
      'SESSION_NOT_FOUND',
      'ASSISTANT_NOT_FOUND',
      ...CONTENT_ERRORS,
      'PINNED_LIMIT_EXCEEDED',
      'OVERRIDE_NOT_ALLOWED',
      'SESSION_BUSY',
      'QUOTA_EXCEEDED',
      'SESSION_ARCHIVED',
      'SESSION_TERMINATED',
    ],
    async answer(exchange) {
      const { clients, call, param, body, inlineData, request } = exchange;
      const {
        turnId,
        seq,
        replayed: isReplay,
      } = await clients.sessions
        .sendMessage(
          {
            sessionId: param('session_id'),
            ...readContent(body.content, '/content', inlineData),
            overrides: overridesOf(body),
            busyPolicy: body.busy_policy ?? 'enqueue',
            pinned: body.pinned || undefined,
            idempotencyKey: idempotencyKey(request.raw),
          },
          call,
        )
        .catch(refuseContentAt('/content'));
      const queued = { sessionId: param('session_id'), turnId };
      const turn = await turnMember(exchange, queued, body.wait_seconds);
      return ok({ turn_id: turnId, seq, ...turn }, replayed(isReplay));
    },
  }),

  route({
    method: 'GET',
    path: '/sessions/{session_id}/messages',
    operationId: 'listMessages',
    tag: 'Sessions',
    summary: 'List the messages of a session',
    description: 'Returns the messages of users and agents, oldest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of messages.', data: MessageShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const request = { sessionId: param('session_id'), page: pageRequest(query) };
      const { events, page } = await clients.sessions.listMessages(request, call);
      return list(
        events.map((event) => serializeMessage(event.json)),
        page,
      );
    },
  }),
];
