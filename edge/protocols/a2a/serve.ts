import { ListTasksResponse, SendMessageResponse, StreamResponse, Task } from '@a2a-js/sdk';
import {
  A2AError,
  PushNotificationNotSupportedError,
  toJsonRpcError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS } from '../../../lib/error-codes.ts';
import { callOf } from '../../authentication/authenticator.ts';
import { toRefusal } from '../../errors.ts';
import { checkPath } from '../../input/path.ts';
import type { RouteContext } from '../../route.ts';
import { requireExposedAgent } from '../exposure.ts';
import { INVALID_REQUEST, JsonRpcError, type RequestId } from '../mcp/json-rpc.ts';
import { receiveMessage } from '../mcp/message.ts';
import type { ProtocolOutcome } from '../metrics.ts';
import { sendJson } from '../openai/send-json.ts';
import { ObjectStream } from '../openai/stream-writer.ts';
import { noteRequestId } from './errors.ts';
import { listTasks } from './list-tasks.ts';
import type { A2aOperation } from './operation.ts';
import { sendMessage, streamMessage } from './send.ts';
import { subscribe, type TaskStream } from './stream.ts';
import { cancelTask, getTask } from './tasks.ts';

const VERSION = '1.0';
const METHOD_NOT_FOUND = -32601;

type Method = (operation: A2aOperation, params: Record<string, unknown>) => Promise<unknown> | TaskStream;

const refusePush: Method = async () => {
  throw new PushNotificationNotSupportedError();
};

const METHODS = new Map<string, Method>(
  Object.entries({
    SendMessage: async (operation, params) => {
      const task = await sendMessage(operation, params);
      return SendMessageResponse.toJSON({ payload: { $case: 'task', value: task } });
    },
    SendStreamingMessage: streamMessage,
    GetTask: async (operation, params) => Task.toJSON(await getTask(operation, params)),
    ListTasks: async (operation, params) => {
      // ProtoJSON leaves out empty members, which this response must have.
      const empty = { tasks: [], nextPageToken: '', totalSize: 0 };
      return { ...empty, ...(ListTasksResponse.toJSON(await listTasks(operation, params)) as object) };
    },
    CancelTask: async (operation, params) => Task.toJSON(await cancelTask(operation, params)),
    SubscribeToTask: subscribe,
    CreateTaskPushNotificationConfig: refusePush,
    GetTaskPushNotificationConfig: refusePush,
    ListTaskPushNotificationConfigs: refusePush,
    DeleteTaskPushNotificationConfig: refusePush,
    GetExtendedAgentCard: async () => {
      throw new UnsupportedOperationError('The agent has no extended card.');
    },
  } satisfies Record<string, Method>),
);

/** Answers one request of a client. */
export async function serveA2a(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const record = (outcome: ProtocolOutcome) => context.protocolMetrics.record('a2a', name, outcome);
  let name = 'malformed';
  let id: RequestId = null;
  try {
    const message = await receiveMessage(request.raw);
    id = message.id;
    noteRequestId(request, id);
    const method = METHODS.get(message.method);
    name = method ? message.method : 'unknown';
    checkVersion(request);
    if (id === null || message.method === '')
      throw new JsonRpcError(INVALID_REQUEST, 'The body must be a request with `id` and `method`.', id);
    if (!method) throw new JsonRpcError(METHOD_NOT_FOUND, 'Unknown method.', id);
    const result = method(await operationOf(context, request), message.params);
    const sent =
      Symbol.asyncIterator in result
        ? await sendStream(context, request, reply, id, result)
        : await sendJson(reply, { jsonrpc: '2.0', id, result: await result });
    record('ok');
    return sent;
  } catch (error) {
    const failure = errorOf(error);
    record(failure || ERRORS[toRefusal(error).code].status < 500 ? 'refused' : 'failed');
    if (!failure) throw error;
    request.outcome.errorCode = 'INVALID_REQUEST';
    // The form of the message is refused as on the other endpoints. Errors of methods are results of HTTP.
    if (error instanceof JsonRpcError && failure.code !== METHOD_NOT_FOUND) reply.code(400);
    return sendJson(reply, {
      jsonrpc: '2.0',
      id: error instanceof JsonRpcError ? error.id : id,
      error: failure,
    });
  }
}

async function operationOf(context: RouteContext, request: FastifyRequest): Promise<A2aOperation> {
  const { agent_id: agentId = '' } = request.params as { agent_id?: string };
  checkPath({ agent_id: agentId });
  const call = callOf(request);
  return {
    context,
    call,
    agent: await requireExposedAgent(context.clients, call, agentId, 'a2a'),
    scopes: request.scopes,
  };
}

/** A request without a version is one of version 0.3 (specification, section 3.6.2). */
function checkVersion({ headers, query }: FastifyRequest): void {
  const { 'A2A-Version': parameter } = query as Record<string, unknown>;
  const version = headers['a2a-version'] || parameter || '0.3';
  if (version !== VERSION)
    throw new VersionNotSupportedError(
      `The version is not supported. Set the header A2A-Version to ${VERSION}.`,
    );
}

/** The errors of the protocol. Undefined for a refusal, which is sent with its own HTTP status. */
function errorOf(error: unknown): { code: number; message: string } | undefined {
  if (error instanceof JsonRpcError) return { code: error.code, message: error.message };
  return error instanceof A2AError ? toJsonRpcError(error) : undefined;
}

async function sendStream(
  { liveStreams, stallMonitor, log, protocolMetrics }: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  id: RequestId,
  events: TaskStream,
): Promise<FastifyReply> {
  // A refusal can still be a response.
  const first = await events.next();
  reply.hijack();
  const stream = new ObjectStream(reply.raw, { ...reply.getHeaders() }, stallMonitor, () => {});
  liveStreams.add(stream);
  const endStream = protocolMetrics.beginStream('a2a');
  try {
    for (let event = first; !event.done; event = await events.next()) {
      stream.write({ jsonrpc: '2.0', id, result: StreamResponse.toJSON(event.value) });
      await stream.flushed();
    }
    stream.end();
  } catch (error) {
    if (!request.raw.destroyed) log.warn({ err: error }, 'a stream of a task ended before the task');
    stream.drain();
  } finally {
    endStream();
    liveStreams.delete(stream);
  }
  return reply;
}
