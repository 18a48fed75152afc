import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import type { CallbackHeader } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { ok } from '../../envelope.ts';
import { OVERSIZE, readBody } from '../../input/body.ts';
import { disconnectSignal } from '../../plugins/disconnect-signal.ts';
import { route } from '../../route.ts';
import { closed, id, nullable, optional } from '../../schemas/common.ts';
import { PulledPostsShape, serializePulledPost } from '../../schemas/deployments/posts.ts';

export const CALLBACK_PATH = '/deployments/{deployment_id}/callback';
export const PULL_PATH = '/deployments/{deployment_id}/posts';
/** The limit of the provider `http`, whose messages can hold files. Other providers have a lower one. */
const MAX_BYTES = 16 * 1024 * 1024;
const EMPTY = Buffer.alloc(0);
const SECOND_MS = 1_000;
const MARGIN_MS = 10_000;

const SIGNATURE_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
  name,
  in: 'header',
  description:
    'Of the provider `http`: the header of Standard Webhooks. Other products send their own headers.',
  schema: { type: 'string' },
}));

/** Credentials of this service, which callbacks do not use. They stay in the edge. */
const IGNORED_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);
/** Telegram sends the secret itself instead of a signature. */
const SECRET_HEADERS = new Set(['x-telegram-bot-api-secret-token']);

/** The other headers, in order and as received: signatures can depend on each. */
function headersOf({ rawHeaders }: IncomingMessage): CallbackHeader[] {
  return rawHeaders.flatMap((rawName, at) => {
    const name = rawName.toLowerCase();
    const value = rawHeaders[at + 1] ?? '';
    if (at % 2 !== 0 || IGNORED_HEADERS.has(name)) return [];
    if (!SECRET_HEADERS.has(name)) return [{ name, value }];
    return [{ name, value: '', valueSha256: hash('sha256', value, 'buffer') }];
  });
}

export const callbackRoutes = [
  route.raw({
    method: 'POST',
    path: CALLBACK_PATH,
    access: 'open',
    operationId: 'receiveCallback',
    tag: 'Channel callback',
    summary: 'Receive an event of a messaging product',
    description:
      'Slack, Telegram and Discord send their events here, with their own signatures and in their own form. The provider ' +
      '`http` sends `{type, conversation, user, message | action | command}`, signed as Standard Webhooks. The event is stored ' +
      'before the response. Until a channel worker has asked the product for the bot of the channel, events are refused with ' +
      'CHANNEL_NOT_READY; the challenges and checks of products are answered.',
    parameters: SIGNATURE_HEADERS,
    requestBody: {
      content: {
        '*/*': {
          schema: {},
          example: {
            type: 'message',
            conversation: 'room-1',
            user: { id: 'u1', name: 'Ada' },
            message: { id: 'm1', text: 'Is the build green?' },
          },
        },
      },
    },
    responses: {
      200: {
        description: 'The answer that the product expects.',
        content: { '*/*': { schema: {}, example: '' } },
      },
      202: {
        description: 'Provider `http`: the event was stored.',
        data: Type.Object({
          delivery_id: id('dlv', 'the delivery'),
          session_id: nullable(id('ses', 'the session of the conversation; null until it exists')),
          duplicate: Type.Boolean({ description: 'The event had been received before.', examples: [false] }),
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
      'CHANNEL_NOT_READY',
    ],
    createHandler({ clients }) {
      return async (request, reply) => {
        const { raw } = request;
        const body = await readBody(raw, MAX_BYTES);
        const answer = await clients.deployments.receiveCallback(
          {
            deploymentId: (request.params as { deployment_id: string }).deployment_id,
            httpMethod: raw.method ?? '',
            target: request.originalUrl,
            headers: headersOf(raw),
            body: body === OVERSIZE ? EMPTY : body,
            oversize: body === OVERSIZE,
            sourceAddress: request.address,
          },
          { trace: request.span.trace, requestId: request.id, signal: disconnectSignal(reply) },
        );
        reply.code(answer.status);
        if (answer.contentType !== '') reply.type(answer.contentType);
        return Buffer.from(answer.body);
      };
    },
  }),

  route({
    method: 'GET',
    path: PULL_PATH,
    access: 'open',
    operationId: 'pullPosts',
    tag: 'Channel callback',
    summary: 'Pull the posts of a channel',
    description:
      'Returns new and changed posts of a channel with the provider `http`, oldest first. The request is signed as the callback ' +
      'is; the signed payload is the path with the query as sent. Each post is returned at least once: a repeated request with ' +
      'the same `after` returns the same posts or newer revisions.',
    query: closed({
      after: optional(
        Type.String({
          maxLength: 40,
          description: 'The `next_after` of the previous response. Default: the first post.',
        }),
      ),
      wait_seconds: optional(
        Type.Integer({
          minimum: 0,
          maximum: 60,
          default: 0,
          description: 'Wait up to this many seconds for a post.',
        }),
      ),
    }),
    success: { status: 200, description: 'The posts.', data: PulledPostsShape },
    errors: ['DEPLOYMENT_NOT_FOUND', 'DEPLOYMENT_UNAUTHORIZED', 'NOT_A_CHANNEL'],
    async answer({ clients, call, param, query, request, draining }) {
      const waitMs = (query.wait_seconds ?? 0) * SECOND_MS;
      const { posts, nextAfter } = await clients.deployments.pullPosts(
        {
          deploymentId: param('deployment_id'),
          target: request.originalUrl,
          headers: headersOf(request.raw),
          after: query.after ?? '',
          waitMs: draining.aborted ? 0 : waitMs,
          sourceAddress: request.address,
        },
        { ...call, timeoutMs: waitMs + MARGIN_MS },
      );
      return ok({ posts: posts.map(serializePulledPost), next_after: nextAfter });
    },
  }),
];
