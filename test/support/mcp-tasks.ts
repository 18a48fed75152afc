import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type ApplicationInputRequest,
  createTaskSessionFromClient,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client';
import type { JsonValue } from '@modelcontextprotocol/ext-tasks/core';
import { CLIENT_INFO, sendMcpRequest } from './mcp-requests.ts';

const TASKS = { 'io.modelcontextprotocol/tasks': {} };
/** The capabilities of a client that understands tasks and has forms. */
export const TASK_CAPABILITIES = { elicitation: { form: {}, url: {} }, extensions: TASKS };

interface TaskClientOptions {
  token?: string | undefined;
  /** The capabilities besides tasks. */
  capabilities?: Record<string, JsonValue>;
  /** Answers the requests of tasks. Default: each is dismissed. */
  answer?: (request: ApplicationInputRequest) => {
    action: 'accept' | 'decline' | 'cancel';
    content?: Record<string, string | number | boolean>;
  };
}

/**
 * The task client of the extension's authors over the client of the SDK. The library leaves the transport of tasks to its
 * host, which is `sendMcpRequest` here.
 */
export async function connectTaskClient(
  url: string,
  { token, capabilities = { elicitation: { form: {}, url: {} } }, answer }: TaskClientOptions = {},
): Promise<TaskEnabledSession> {
  const client = new Client(CLIENT_INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const session = createTaskSessionFromClient(client, {
    endpointId: 'agents',
    v2RequestFraming: {
      protocolVersion: '2026-07-28',
      clientInfo: CLIENT_INFO,
      clientCapabilities: capabilities,
    },
    async rawDispatch(request, options) {
      const { method, params = {} } = request as { method: string; params?: Record<string, JsonValue> };
      const { result, error } = await sendMcpRequest(url, method, params, { token, signal: options?.signal });
      return error
        ? { kind: 'error', error: error as { code: number; message: string } }
        : { kind: 'result', result: result as JsonValue };
    },
    ...(answer && {
      onInputRequest: async (request) => answer(request) as never,
    }),
  });
  const close = session.close.bind(session);
  return Object.assign(session, {
    close: async () => {
      await close();
      await client.close();
    },
  });
}
