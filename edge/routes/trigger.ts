import { Type } from 'typebox';
import { OVERSIZE, readBody } from '../input/body.ts';
import { occurrences } from '../input/headers.ts';
import { disconnectSignal } from '../plugins/disconnect-signal.ts';
import { route } from '../route.ts';
import { id } from '../schemas/common.ts';

export const TRIGGER_PATH = '/deployments/{deployment_id}/trigger';
const EMPTY = Buffer.alloc(0);

const requiredHeader = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

/**
 * The signed webhook. The body is passed on byte for byte: Content-Type, Content-Encoding and other headers are ignored,
 * because the signature covers only the body and the timestamp.
 */
export const triggerRoutes = [
  route.raw({
    method: 'POST',
    path: TRIGGER_PATH,
    access: 'open',
    operationId: 'triggerDeployment',
    tag: 'Webhook trigger',
    summary: 'Start a session with a signed webhook',
    description:
      'signature = Base64(HMAC-SHA256(shared_secret, timestamp + "." + lowercase hex SHA-256 of the raw body)). The body can ' +
      'be any bytes; it is decoded as UTF-8 and sent to the agent. Each accepted request starts a new session.',
    parameters: [
      requiredHeader('X-WEBHOOK-TIMESTAMP', 'Unix time in seconds, as decimal text.'),
      requiredHeader('X-WEBHOOK-SIGNATURE', 'The HMAC-SHA256 signature, encoded as Base64.'),
    ],
    requestBody: { content: { '*/*': { schema: {}, example: '{"build": 42}' } } },
    responses: {
      200: {
        description: 'The session was created. The agent processes the payload asynchronously.',
        data: Type.Object({
          deployment_id: id('dep', 'the deployment that accepted the request'),
          session_id: id('ses', 'the new session'),
          status: Type.Literal('accepted'),
        }),
      },
    },
    impliedErrors: 'request',
    ignoresIfMatch: true,
    errors: [
      'URI_TOO_LONG',
      'DEPLOYMENT_NOT_FOUND',
      'PAYLOAD_TOO_LARGE',
      'DEPLOYMENT_UNAUTHORIZED',
      'DEPLOYMENT_CANNOT_START',
      'QUOTA_EXCEEDED',
      'RATE_LIMITED',
    ],
    createHandler({ clients, maxWebhookBytes }) {
      return async (request, reply) => {
        const { raw } = request;
        const body = await readBody(raw, maxWebhookBytes);
        const answer = await clients.deployments.trigger(
          {
            deploymentId: (request.params as { deployment_id: string }).deployment_id,
            body: body === OVERSIZE ? EMPTY : body,
            oversize: body === OVERSIZE,
            timestamps: occurrences(raw.rawHeaders, 'x-webhook-timestamp'),
            signatures: occurrences(raw.rawHeaders, 'x-webhook-signature'),
            sourceAddress: request.address,
          },
          { trace: request.span.trace, requestId: request.id, signal: disconnectSignal(reply) },
        );
        if (!request.span.silent) request.span.set({ 'ahs.session_id': answer.sessionId });
        reply.type('application/json; charset=utf-8');
        return (
          `{"code":"OK","message":"success","data":{"deployment_id":"${answer.deploymentId}",` +
          `"session_id":"${answer.sessionId}","status":"accepted"}}`
        );
      };
    },
  }),
];
