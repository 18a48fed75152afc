import { refuse } from '../../lib/errors.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import { isId } from '../../lib/ids.ts';
import type { Clients } from '../clients.ts';
import type { Exchange } from '../route.ts';
import { ChatHistory } from './chat-history.ts';
import { HISTORY_TYPES, readHistoryEvent } from './journal.ts';
import type { SdkVersion } from './schemas.ts';
import { sdkVersionOf } from './sdk-version.ts';
import { partsUrlOf } from './stored-parts.ts';

type MessagesExchange = Pick<Exchange, 'clients' | 'call' | 'param' | 'request' | 'reply'> & {
  query: { ai_sdk?: SdkVersion; cursor?: string };
};

/** Reads a page of the messages of a session. Refuses with SESSION_NOT_FOUND or INVALID_CURSOR. */
export async function readMessages({ clients, call, param, query, request, reply }: MessagesExchange) {
  // The messages of both majors are the same.
  sdkVersionOf(request.raw, query);
  const isOtherOrigin = reply.hasHeader('access-control-allow-origin');
  const partsUrl = partsUrlOf(param('session_id'), isOtherOrigin ? request.headers.host : undefined);
  const page = await readChat(clients, { sessionId: param('session_id'), partsUrl, ...query }, call);
  return { messages: page.messages, nextCursor: page.olderBefore ?? '' };
}

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
