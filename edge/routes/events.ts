import { Event } from '../../lib/events.ts';
import { spliced } from '../envelope.ts';
import { route } from '../route.ts';
import { closed, pageRequest, paging } from '../schemas/common.ts';
import { afterSeq, types, typesOf } from '../schemas/events.ts';

export const EventShape = { ...Event, title: 'Event', description: 'Something that happened in a session.' };

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/events',
    operationId: 'listEvents',
    tag: 'Events',
    summary: 'List the events of a session',
    description: 'The journal, oldest first. A page ends early at about 4 MiB.',
    query: closed({ ...paging, after_seq: afterSeq, types }),
    success: { status: 200, description: 'A page of events.', data: EventShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const { events, page } = await clients.sessions.listEvents(
        {
          sessionId: param('session_id'),
          page: pageRequest(query),
          afterSeq: query.after_seq ?? 0,
          types: typesOf(query.types),
        },
        call,
      );
      return spliced(
        events.map((event) => event.json),
        page,
      );
    },
  }),
];
