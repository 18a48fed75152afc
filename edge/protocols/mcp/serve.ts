import { createMcpHandler } from '@modelcontextprotocol/server';
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
    if (agentId !== undefined) await exposedAgent(operation, agentId);
    const web = webRequest(request, operation.call.signal);
    const response = await answer(operation, message, web);
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

/** A handler of its own for each request, so that nothing is shared between callers. */
async function answer(
  operation: McpOperation,
  received: ReceivedMessage,
  request: Request,
): Promise<Response> {
  const { value: message } = received;
  const { mcpServerFactory = ({ era }) => createServer(operation, era) } = operation.context;
  if (message.method !== LISTEN)
    return createMcpHandler(mcpServerFactory).fetch(request, { parsedBody: message });
  const refused = refuseTaskNotifications(received);
  if (refused) return refused;
  const subscription = await Subscription.open(message, subscriptionContext(operation));
  const handler = createMcpHandler(mcpServerFactory, { bus: subscription });
  subscription.endWith(() => void handler.close());
  const response = await handler.fetch(request, { parsedBody: subscription.message });
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
