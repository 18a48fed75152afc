import { Type } from 'typebox';
import type { ErrorCode } from '../../../lib/error-codes.ts';
import { once } from '../../../lib/once.ts';
import { callOf } from '../../authentication/authenticator.ts';
import type { RawQuery } from '../../input/query.ts';
import { type RawRoute, route } from '../../route.ts';
import { closed, optional } from '../../schemas/common.ts';
import { CONTENT_ERRORS } from '../../schemas/content.ts';
import { findModel, listModels, modelObject } from './models.ts';
import { observed } from './observation.ts';
import { sendJson } from './send-json.ts';

const loadChat = once(() => import('./chat/route.ts'));
const loadCreation = once(() => import('./responses/create.ts'));
const loadStored = once(() => import('./responses/stored.ts'));

const BASE = '/openai/v1';
const DOCUMENT = 'https://platform.openai.com/docs/api-reference';

const objectOf = (name: string, path: string) => ({
  type: 'object',
  description: `The ${name} of the OpenAI API.`,
  externalDocs: { url: `${DOCUMENT}/${path}` },
});

/** The declaration of an operation whose bodies the OpenAI API describes. */
function operation(
  declared: Pick<
    RawRoute,
    'method' | 'path' | 'operationId' | 'summary' | 'description' | 'createHandler'
  > & {
    errors?: readonly ErrorCode[];
    query?: RawRoute['query'];
    /** The place in the document of the OpenAI API, and an example of the request. */
    object: { name: string; path: string; example: object };
    request?: object;
    streams?: true;
  },
) {
  const { path, object, request, streams, errors = [], createHandler, ...rest } = declared;
  const schema = objectOf(object.name, object.path);
  const content = {
    'application/json': { schema, example: object.example },
    ...(streams && { 'text/event-stream': { schema, example: object.example } }),
  };
  return route.raw({
    ...rest,
    path: BASE + path,
    tag: 'Protocols',
    access: 'mcp_or_write',
    security: [{ token: [] }],
    ...(request && {
      headers: ['Idempotency-Key'] as const,
      requestBody: {
        required: true,
        content: { 'application/json': { schema: objectOf('request', object.path), example: request } },
      },
    }),
    responses: { 200: { description: `The ${object.name}.`, content } },
    errors: ['AGENT_NOT_FOUND', ...errors],
    config: { protocol: 'openai', ...(streams && { longLived: true }) },
    createHandler: (context, readQuery) =>
      observed(context, `${declared.method} ${path}`, createHandler(context, readQuery)),
  });
}

/** Refusals of requests that send a message. */
const MESSAGE_ERRORS = [
  'SESSION_NOT_FOUND',
  ...CONTENT_ERRORS,
  'OVERRIDE_NOT_ALLOWED',
  'AGENT_NOT_RUNNABLE',
  'ENVIRONMENT_DISABLED',
  'QUOTA_EXCEEDED',
  'SESSION_ARCHIVED',
  'SESSION_BUSY',
  'SESSION_TERMINATED',
] as const satisfies ErrorCode[];

const MODEL = { id: 'support', object: 'model', created: 1_790_000_000, owned_by: 'agent-hosting-service' };
const COMPLETION = {
  id: 'chatcmpl-01KAK3V9Q6W1X2Y3Z4A5B6C7D8',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'support',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
};
const RESPONSE = {
  id: 'resp_01KAK3V9Q6W1X2Y3Z4A5B6C7D8',
  object: 'response',
  status: 'completed',
  model: 'support',
};

const retrieval = closed({
  stream: optional(Type.Boolean({ description: 'Whether the response is a stream.' })),
  starting_after: optional(
    Type.Integer({ minimum: 0, description: 'The stream leaves out events up to this `sequence_number`.' }),
  ),
  include: optional(Type.Array(Type.String(), { description: 'Has no effect.' })),
  include_obfuscation: optional(Type.Boolean({ description: 'Has no effect.' })),
});

/** The operations of the OpenAI API that agents can answer. Bodies and errors have its shapes. */
export const openaiRoutes = [
  operation({
    method: 'GET',
    path: '/models',
    operationId: 'openaiListModels',
    summary: 'List agents as models',
    description:
      'The agents that you may use and that are exposed to the OpenAI-compatible API. The id of a model is the name of its agent ' +
      'in lower case with `-`, if no other of your agents has it, and otherwise the agent id, which always works.',
    object: { name: 'list of models', path: 'models/list', example: { object: 'list', data: [MODEL] } },
    createHandler: (context) => async (request, reply) => {
      const models = await listModels(context.clients, callOf(request));
      return sendJson(reply, { object: 'list', data: models.map(modelObject) });
    },
  }),

  operation({
    method: 'GET',
    path: '/models/{model}',
    operationId: 'openaiGetModel',
    summary: 'Read an agent as a model',
    description: 'By its agent id or its model id.',
    object: { name: 'model', path: 'models/retrieve', example: MODEL },
    createHandler: (context) => async (request, reply) => {
      const { model } = request.params as { model: string };
      return sendJson(
        reply,
        modelObject({ id: model, agent: await findModel(context.clients, callOf(request), model) }),
      );
    },
  }),

  operation({
    method: 'POST',
    path: '/chat/completions',
    operationId: 'openaiCreateChatCompletion',
    summary: 'Answer a chat',
    description:
      'Sends the last message to the session of the chat, which is recognised by the messages before it or named by ' +
      '`metadata.session_id`. An edited past continues in a fork. The work of tools is not part of the answer. Parameters ' +
      'without effect are named in `x-ignored-parameters`. A client that disconnects interrupts the turn.',
    object: { name: 'completion', path: 'chat/create', example: COMPLETION },
    request: { model: 'support', messages: [{ role: 'user', content: 'Hello!' }] },
    streams: true,
    errors: MESSAGE_ERRORS,
    createHandler: (context) => async (request, reply) => {
      const { answerChat } = await loadChat();
      return answerChat(context, request, reply);
    },
  }),

  operation({
    method: 'POST',
    path: '/responses',
    operationId: 'openaiCreateResponse',
    summary: 'Create a response',
    description:
      'Sends the input to the session of `previous_response_id` or `conversation` (a session id), or begins one. With ' +
      '`background`, the response is returned at once and a client that disconnects does not interrupt the turn.',
    object: { name: 'response', path: 'responses/create', example: RESPONSE },
    request: { model: 'support', input: 'Hello!' },
    streams: true,
    errors: MESSAGE_ERRORS,
    createHandler: (context) => async (request, reply) => {
      const { createResponse } = await loadCreation();
      return createResponse(context, request, reply);
    },
  }),

  operation({
    method: 'GET',
    path: '/responses/{response_id}',
    operationId: 'openaiGetResponse',
    summary: 'Read a response',
    description:
      'With `stream=true` as a stream, which `starting_after` resumes behind the event with this `sequence_number`. Responses ' +
      'are found for 30 days. Members of the request that are not stored are null.',
    query: retrieval,
    object: { name: 'response', path: 'responses/get', example: RESPONSE },
    streams: true,
    errors: ['SESSION_NOT_FOUND'],
    createHandler: (context, readQuery) => async (request, reply) => {
      const query = readQuery(request.query as RawQuery) as { stream?: boolean; starting_after?: number };
      const { retrieveResponse } = await loadStored();
      const { stream = false, starting_after: startingAfter } = query;
      return retrieveResponse(context, request, reply, { stream, startingAfter });
    },
  }),

  operation({
    method: 'POST',
    path: '/responses/{response_id}/cancel',
    operationId: 'openaiCancelResponse',
    summary: 'Cancel a response',
    description: 'Interrupts its turn. A response that has ended is returned as it is.',
    object: { name: 'response', path: 'responses/cancel', example: { ...RESPONSE, status: 'cancelled' } },
    errors: ['SESSION_NOT_FOUND'],
    createHandler: (context) => async (request, reply) => {
      const { cancelResponse } = await loadStored();
      return cancelResponse(context, request, reply);
    },
  }),

  operation({
    method: 'DELETE',
    path: '/responses/{response_id}',
    operationId: 'openaiDeleteResponse',
    summary: 'Delete a response',
    description: 'The response is not found afterwards. Its session keeps the turn.',
    object: {
      name: 'deleted response',
      path: 'responses/delete',
      example: { id: RESPONSE.id, object: 'response.deleted', deleted: true },
    },
    errors: ['SESSION_NOT_FOUND'],
    createHandler: (context) => async (request, reply) => {
      const { deleteResponse } = await loadStored();
      return deleteResponse(context, request, reply);
    },
  }),
];
