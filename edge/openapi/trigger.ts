import { TRIGGER_PATH } from '../routes/trigger.ts';
import { id } from '../schemas/common.ts';
import { ANY_REQUEST, errorResponses } from './errors.ts';
import { exampleOf } from './example.ts';
import type { Operation } from './operation.ts';
import { pathParameters } from './parameters.ts';

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
      security: [],
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
          'QUOTA_EXCEEDED',
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
