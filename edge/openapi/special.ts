import { EVENT_DATA } from '../../lib/events.ts';
import { EventShape } from '../routes/events.ts';
import { STREAM_PATH, StreamQuery } from '../routes/stream.ts';
import { TRIGGER_PATH } from '../routes/trigger.ts';
import { id } from '../schemas/common.ts';
import { type Components, collect } from './components.ts';
import { ANY_REQUEST, errorResponses, impliedErrors } from './errors.ts';
import { exampleOf } from './example.ts';
import { headerParameters, pathParameters, queryParameters } from './parameters.ts';

const [EVENT] = EventShape.examples;
const FRAMES =
  `id: ${EVENT?.seq}\nevent: ${EVENT?.type}\ndata: ${JSON.stringify(EVENT)}\n\n` +
  `event: stream.caught_up\ndata: {"seq":${EVENT?.seq}}\n\n`;

type Operation = [path: string, method: string, operation: object];

/** The two operations that do not answer with a plain JSON envelope, or do not take one. */
export function streamOperation(components: Components): Operation {
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

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

export function triggerOperation(): Operation {
  return [
    TRIGGER_PATH,
    'POST',
    {
      operationId: 'triggerDeployment',
      tags: ['Webhook trigger'],
      summary: 'Start a session with a signed webhook',
      description:
        'signature = Base64(HMAC-SHA256(shared_secret, timestamp + "." + lowercase hex SHA-256 of the raw body)). Any bytes are ' +
        'accepted; they are decoded as UTF-8 and handed to the agent. Each accepted request starts a session of its own.',
      parameters: [
        ...pathParameters(TRIGGER_PATH),
        header('X-WEBHOOK-TIMESTAMP', 'Unix time in seconds, as decimal text.'),
        header('X-WEBHOOK-SIGNATURE', 'Base64 of the HMAC-SHA256 signature.'),
      ],
      requestBody: { content: { '*/*': { schema: {}, example: '{"build": 42}' } } },
      responses: {
        200: {
          description: 'The session was created. The agent works on.',
          content: { 'application/json': { schema: ACCEPTED, example: exampleOf(ACCEPTED) } },
        },
        ...errorResponses([
          ...ANY_REQUEST,
          'URI_TOO_LONG',
          'DEPLOYMENT_NOT_FOUND',
          'PAYLOAD_TOO_LARGE',
          'DEPLOYMENT_UNAUTHORIZED',
          'DEPLOYMENT_CANNOT_START',
          'RATE_LIMITED',
        ]),
      },
    },
  ];
}

const ACCEPTED = {
  type: 'object',
  required: ['code', 'message', 'data'],
  properties: {
    code: { const: 'OK' },
    message: { const: 'success' },
    data: {
      type: 'object',
      required: ['deployment_id', 'session_id', 'status'],
      properties: {
        deployment_id: id('dep', 'the trigger that accepted the request'),
        session_id: id('ses', 'the new session'),
        status: { const: 'accepted' },
      },
    },
  },
};
