import { listOfJson } from '../envelope.ts';
import { route } from '../route.ts';
import { closed, pageRequest, paging } from '../schemas/common.ts';
import { EventShape } from '../schemas/event.ts';
import { afterSeq, order, types, typesOf } from '../schemas/events.ts';

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/events',
    operationId: 'listEvents',
    tag: 'Events',
    summary: 'List the events of a session',
    description:
      'Returns the journal, oldest first by default. A page has at most about 4 MiB and may have fewer items than `limit`.',
    query: closed({ ...paging, after_seq: afterSeq, types, order }),
    success: { status: 200, description: 'A page of events.', data: EventShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const { events, page } = await clients.sessions.listEvents(
        {
          sessionId: param('session_id'),
          page: pageRequest(query),
          afterSeq: query.after_seq ?? 0,
          types: typesOf(query.types),
          newestFirst: query.order === 'newest_first',
        },
        call,
      );
      return listOfJson(
        events.map((event) => event.json),
        page,
      );
    },
  }),
];
