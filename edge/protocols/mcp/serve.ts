import { createMcpHandler, type McpServerFactory } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callOf } from '../../authentication/authenticator.ts';
import { toRefusal } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';
import { exposedAgent } from './agents.ts';
import { NO_CAPABILITIES } from './client-capabilities.ts';
import { sendResponse, webRequest } from './http.ts';
import { errorText, JsonRpcError } from './json-rpc.ts';
import { type ReceivedMessage, receiveMessage } from './message.ts';
import { observeOperation } from './observation.ts';
import type { McpOperation } from './operation.ts';
import { subscriptionContext } from './resources/context.ts';
import { Subscription } from './resources/subscription.ts';
import { answerRequest, toolRequest } from './result-transport.ts';
import { createServer } from './server.ts';
import { refuseTaskNotifications } from './tasks/task-notifications.ts';

const LISTEN = 'subscriptions/listen';

/** Answers one request of a client. `agentId` is the only agent of the endpoint. */
export async function serveMcp(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  agentId?: string,
): Promise<unknown> {
  const message = await receive(context, request, reply);
  if (!message) return reply;
  const observation = observeOperation(context, request, message);
  const operation: McpOperation = {
    ...{ context, agentId, scopes: request.scopes, requestId: request.id },
    call: { ...callOf(request), trace: observation.trace },
    outcome: { errorCode: undefined, cause: undefined },
    client: NO_CAPABILITIES,
  };
  try {
    if (agentId !== undefined) {
      const agent = await exposedAgent(operation, agentId);
      if (message.method !== LISTEN) operation.agent = agent;
    }
    const response = await answer(operation, message, request);
    if (typeof response === 'string') {
      reply.type('application/json');
      return response;
    }
    await sendResponse(response, reply, context);
    if (response.status >= 400) operation.outcome.errorCode ??= 'INVALID_REQUEST';
    return reply;
  } catch (error) {
    operation.outcome.errorCode = toRefusal(error).code;
    throw error;
  } finally {
    observation.end(operation.outcome);
  }
}

/** The factory of the server object of each request that is being answered. */
const factories = new WeakMap<Request, McpServerFactory>();

/**
 * Answers all requests but subscriptions. It creates a server object for each request and keeps nothing between requests. A
 * handler for each request would be a noticeable part of a call that waits.
 */
const handler = createMcpHandler((request) => {
  const create = request.requestInfo && factories.get(request.requestInfo);
  if (!create) throw new Error('The request is not being answered.');
  return create(request);
});

/** Not an async function, whose state a call that waits would retain. */
function answer(
  operation: McpOperation,
  received: ReceivedMessage,
  incoming: FastifyRequest,
): Promise<Response | string> {
  const { value: message, method } = received;
  const { context, call } = operation;
  const tools = context.mcpServerFactory ? undefined : toolRequest(message, incoming.headers);
  if (tools) return answerRequest(createServer(operation, 'modern', method), tools, call.signal);
  const { mcpServerFactory = ({ era }) => createServer(operation, era, method) } = context;
  const request = webRequest(incoming, call.signal);
  if (method === LISTEN) return listen(operation, received, request, mcpServerFactory);
  factories.set(request, mcpServerFactory);
  return handler.fetch(request, { parsedBody: message });
}

async function listen(
  operation: McpOperation,
  received: ReceivedMessage,
  request: Request,
  mcpServerFactory: McpServerFactory,
): Promise<Response> {
  const refused = refuseTaskNotifications(received);
  if (refused) return refused;
  const subscription = await Subscription.open(received.value, subscriptionContext(operation));
  const listener = createMcpHandler(mcpServerFactory, { bus: subscription });
  subscription.endWith(() => void listener.close());
  const response = await listener.fetch(request, { parsedBody: subscription.message });
  // The library has refused the request, or there is nothing to report.
  if (!subscription.isOpen) subscription.close();
  return response;
}

/** The message of the request. Undefined: it was refused, and the error has been sent. */
async function receive(
  { protocolMetrics }: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ReceivedMessage | undefined> {
  try {
    return await receiveMessage(request.raw);
  } catch (error) {
    protocolMetrics.record('mcp', 'malformed', 'refused');
    if (!(error instanceof JsonRpcError)) throw error;
    request.outcome.errorCode = 'INVALID_REQUEST';
    const data = { code: 'INVALID_REQUEST', request_id: request.id };
    await reply
      .code(400)
      .type('application/json; charset=utf-8')
      .send(errorText(error.code, error.message, error.id, data));
    return undefined;
  }
}
