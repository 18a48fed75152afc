import { EVENT_DATA } from '../../lib/events.ts';
import { EventShape } from '../routes/events.ts';
import { EXPORT_PATH } from '../routes/export.ts';
import { STREAM_PATH, StreamQuery } from '../routes/stream.ts';
import { type Components, collect } from './components.ts';
import { errorResponses, impliedErrors } from './errors.ts';
import type { Operation } from './operation.ts';
import { headerParameters, pathParameters, queryParameters } from './parameters.ts';

const [EVENT] = EventShape.examples;
const FRAMES =
  `id: ${EVENT?.seq}\nevent: ${EVENT?.type}\ndata: ${JSON.stringify(EVENT)}\n\n` +
  `event: stream.caught_up\ndata: {"seq":${EVENT?.seq}}\n\n`;

/** The operations whose answers come into being while they are sent. */
export function streamOperations(components: Components): Operation[] {
  return [streamOperation(components), exportOperation(components)];
}

function streamOperation(components: Components): Operation {
  const event = collect(EventShape, components);
  for (const [type, data] of Object.entries(EVENT_DATA)) {
    components[`data of ${type}`.replace(/[^\w]+/g, '_')] = collect(data, components);
  }
  return [
    STREAM_PATH,
    'GET',
    {
      operationId: 'streamEvents',
      tags: ['Events'],
      summary: "Follow a session's events",
      description:
        'Server-Sent Events. `id` is the seq, `event` the type, `data` the event as JSON. Works before, during and after turns; ' +
        'join again with Last-Event-ID and nothing is lost or repeated. The frames `stream.caught_up` and `stream.draining` ' +
        'have no id. The stream ends after `session.deleted`.',
      parameters: [
        ...pathParameters(STREAM_PATH),
        ...queryParameters(StreamQuery, components),
        ...headerParameters(['Last-Event-ID']),
      ],
      responses: {
        200: {
          description: 'The stream. Each `data` line is an event.',
          content: { 'text/event-stream': { schema: event, example: FRAMES } },
        },
        ...errorResponses([
          ...impliedErrors({ path: STREAM_PATH, query: StreamQuery }),
          'INVALID_CURSOR',
          'SESSION_NOT_FOUND',
        ]),
      },
    },
  ];
}

function exportOperation(components: Components): Operation {
  return [
    EXPORT_PATH,
    'GET',
    {
      operationId: 'exportSession',
      tags: ['Events'],
      summary: 'Export the journal of a session',
      description: 'Every event up to the newest one, as JSON lines, oldest first.',
      parameters: pathParameters(EXPORT_PATH),
      responses: {
        200: {
          description: 'A file. Each line is an event, as in the list of events.',
          content: {
            'application/x-ndjson': {
              schema: collect(EventShape, components),
              example: `${JSON.stringify(EVENT)}\n`,
            },
          },
        },
        ...errorResponses([...impliedErrors({ path: EXPORT_PATH, query: {} }), 'SESSION_NOT_FOUND']),
      },
    },
  ];
}
