import { Type } from 'typebox';
import { refuse } from '../../lib/errors.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import { isId } from '../../lib/ids.ts';
import type { Clients } from '../clients.ts';
import { list } from '../envelope.ts';
import { route } from '../route.ts';
import { AnyObject, closed, optional, text } from '../schemas/common.ts';
import { ChatHistory } from './chat-history.ts';
import { HISTORY_TYPES, readHistoryEvent } from './journal.ts';
import { sdkVersion, sdkVersionOf } from './sdk-version.ts';
import { partsUrlOf } from './stored-parts.ts';

const UiMessageShape = Type.Object(
  {
    id: text('The id of the turn for an answer, and of the event for a message of a user.'),
    role: Type.Enum(['user', 'assistant']),
    parts: Type.Array(AnyObject('A part, as AI SDK defines it.')),
  },
  {
    title: 'UIMessage',
    examples: [
      { id: 'evt_01KAK3V9Q6W1X2Y3Z4A5B6C7D8', role: 'user', parts: [{ type: 'text', text: 'Hello!' }] },
    ],
  },
);

const HistoryQuery = closed({
  ai_sdk: sdkVersion,
  cursor: optional(text('`next_cursor` of the page with the newer messages.', { maxLength: 100 })),
});

export const aiMessageRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/ai-messages',
    operationId: 'listAiMessages',
    tag: 'Events',
    summary: 'List the messages of a session for AI SDK',
    description:
      'Returns the chat as `UIMessage[]`, oldest first, for the `messages` of `useChat`. The answers are those of ' +
      '`ai-stream`, the answer of an unfinished turn included as far as it is written. Removed turns and replaced answers are ' +
      'left out. A page is the whole chat, or its newest messages if the events of the chat exceed about 16 MiB; ' +
      '`next_cursor` then continues with older messages.',
    query: HistoryQuery,
    headers: ['x-ahs-ai-sdk'],
    success: { status: 200, description: 'The newest messages.', data: UiMessageShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query, request, reply }) {
      // The messages of both majors are the same.
      sdkVersionOf(request.raw, query);
      const isOtherOrigin = reply.hasHeader('access-control-allow-origin');
      const partsUrl = partsUrlOf(param('session_id'), isOtherOrigin ? request.headers.host : undefined);
      const { messages, olderBefore = '' } = await readChat(
        clients,
        { sessionId: param('session_id'), partsUrl, ...query },
        call,
      );
      return list(messages, { nextCursor: olderBefore });
    },
  }),
];

async function readChat(
  { sessions }: Clients,
  { sessionId, partsUrl, cursor }: { sessionId: string; partsUrl: string; cursor?: string },
  call: CallOptions,
) {
  if (cursor !== undefined && !isId('trn', cursor))
    throw refuse('INVALID_CURSOR', 'The cursor is not one of this list.');
  const history = new ChatHistory(cursor, partsUrl);
  const whole = { afterSeq: 0, fromNow: false, untilCaughtUp: true };
  // Most events of a long chat are deltas. Each of them would be sent and parsed, to append a few characters.
  const journal = { sessionId, ...whole, types: HISTORY_TYPES, mergeDeltas: true };
  for await (const { events } of sessions.follow(journal, call))
    for (const event of events) history.add(readHistoryEvent(event), event.json.length);
  return history.page();
}
