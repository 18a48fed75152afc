import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { EdgeContext } from '../context.ts';
import { OVERSIZE, readBody } from '../input/body.ts';
import { occurrences } from '../input/headers.ts';
import { presenceOf } from '../plugins/presence.ts';
import { urlOf } from '../serve.ts';

export const TRIGGER_PATH = '/deployments/{deployment_id}/trigger';
const NOTHING = Buffer.alloc(0);

/**
 * The signed webhook. The bytes go on exactly as they came: what they are called, how they are encoded
 * and what else the request claims makes no difference, only the signature does.
 */
export function serveTrigger(app: FastifyInstance, { clients }: EdgeContext, maxBytes: number): void {
  app.route<{ Params: { deployment_id: string } }>({
    method: 'POST',
    url: urlOf(TRIGGER_PATH),
    config: { access: 'open' },
    async handler(request, reply) {
      const { raw } = request;
      const body = await receive(request, maxBytes);
      const answer = await clients.deployments.trigger(
        {
          deploymentId: request.params.deployment_id,
          body: body === OVERSIZE ? NOTHING : body,
          oversize: body === OVERSIZE,
          timestamps: occurrences(raw.rawHeaders, 'x-webhook-timestamp'),
          signatures: occurrences(raw.rawHeaders, 'x-webhook-signature'),
          sourceAddress: request.address,
        },
        { trace: request.span.trace, requestId: request.id, signal: presenceOf(reply) },
      );
      if (!request.span.silent) request.span.set({ 'ahs.session_id': answer.sessionId });
      reply.type('application/json; charset=utf-8');
      return (
        `{"code":"OK","message":"success","data":{"deployment_id":"${answer.deploymentId}",` +
        `"session_id":"${answer.sessionId}","status":"accepted"}}`
      );
    },
  });
}

function receive({ raw }: FastifyRequest, maxBytes: number): Promise<Buffer | typeof OVERSIZE> {
  return new Promise((resolve, reject) => {
    readBody(raw, raw.headers['content-length'], maxBytes, (error, body) =>
      error ? reject(error) : resolve(body),
    );
  });
}
