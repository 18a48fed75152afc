import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callOf } from '../../authentication/authenticator.ts';
import type { RouteContext } from '../../route.ts';
import { exposedAgent } from './agents.ts';
import { sendResponse, webRequest } from './http.ts';
import { errorText, JsonRpcError } from './json-rpc.ts';
import { type ReceivedMessage, receiveMessage } from './message.ts';
import type { McpOperation } from './operation.ts';
import { createServer } from './server.ts';

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
  // A handler of its own for each request, so that nothing is shared between callers.
  const handler = createMcpHandler(() => createServer(operation));
  const response = await handler.fetch(webRequest(request, call.signal), { parsedBody: message.value });
  return sendResponse(response, reply, context.stallMonitor);
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
