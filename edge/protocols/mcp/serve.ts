import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callOf } from '../../authentication/authenticator.ts';
import type { RouteContext } from '../../route.ts';
import { exposedAgent } from './agents.ts';
import { sendResponse, webRequest } from './http.ts';
import { errorText, JsonRpcError } from './json-rpc.ts';
import { type ReceivedMessage, receiveMessage } from './message.ts';
import type { McpOperation } from './operation.ts';
import { subscriptionContext } from './resources/context.ts';
import { Subscription } from './resources/subscription.ts';
import { createServer } from './server.ts';

const LISTEN = 'subscriptions/listen';

/** Answers one request of a client. `agentId` is the only agent of the endpoint. */
export async function serveMcp(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  agentId?: string,
): Promise<unknown> {
  const call = callOf(request);
  const outcome = { errorCode: undefined, cause: undefined };
  const operation: McpOperation = {
    ...{ context, call, agentId, outcome },
    scopes: request.scopes,
    requestId: request.id,
  };
  const message = await receive(request, reply);
  if (!message) return reply;
  if (agentId !== undefined) await exposedAgent(operation, agentId);
  const response = await answer(operation, message.value, webRequest(request, call.signal));
  return sendResponse(response, reply, context.stallMonitor);
}

/** A handler of its own for each request, so that nothing is shared between callers. */
async function answer(
  operation: McpOperation,
  message: Record<string, unknown>,
  request: Request,
): Promise<Response> {
  const { mcpServerFactory = ({ era }) => createServer(operation, era) } = operation.context;
  if (message.method !== LISTEN)
    return createMcpHandler(mcpServerFactory).fetch(request, { parsedBody: message });
  const subscription = await Subscription.open(message, subscriptionContext(operation));
  const handler = createMcpHandler(mcpServerFactory, { bus: subscription });
  subscription.endWith(() => void handler.close());
  const response = await handler.fetch(request, { parsedBody: subscription.message });
  // The library has refused the request, or there is nothing to report.
  if (!subscription.isOpen) subscription.close();
  return response;
}

/** The message of the request. Undefined: it was refused, and the error has been sent. */
async function receive(request: FastifyRequest, reply: FastifyReply): Promise<ReceivedMessage | undefined> {
  try {
    return await receiveMessage(request.raw);
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error;
    request.outcome.errorCode = 'INVALID_REQUEST';
    const data = { code: 'INVALID_REQUEST', request_id: request.id };
    await reply
      .code(400)
      .type('application/json')
      .send(errorText(error.code, error.message, error.id, data));
    return undefined;
  }
}
