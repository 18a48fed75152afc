import {
  CancelTaskRequestV2Schema,
  GetTaskRequestV2Schema,
  TASKS_EXTENSION_ID_V2,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { clientCapabilities } from '../client-capabilities.ts';
import { INVALID_PARAMS } from '../json-rpc.ts';
import type { DetailedTask } from './task.ts';

/** The tasks that a client sees. Each method throws `taskNotFound()` for an unknown id. */
export interface TaskSource {
  get(taskId: string): Promise<DetailedTask>;
  /** Answers requests of the task. Responses to other requests are ignored. */
  update(taskId: string, responses: Readonly<Record<string, unknown>>): Promise<void>;
  /** Has no effect on a task that has ended. */
  cancel(taskId: string): Promise<void>;
}

export const TASKS_EXTENSION = { [TASKS_EXTENSION_ID_V2]: {} };

/**
 * Serves the tasks extension (https://modelcontextprotocol.io/extensions/tasks) of the revision 2026-07-28. Every method needs
 * the capability of the client in the same request.
 */
export function serveTasks(server: Server, sourceOf: (exchange: ServerContext) => TaskSource): void {
  server.setRequestHandler(
    'tasks/get',
    { params: GetTaskRequestV2Schema.shape.params },
    async ({ taskId }, exchange) => {
      requireTasks(exchange);
      return { ...(await sourceOf(exchange).get(taskId)), resultType: 'complete' };
    },
  );
  server.setRequestHandler(
    'tasks/update',
    { params: GetTaskRequestV2Schema.shape.params },
    async ({ taskId }, exchange) => {
      requireTasks(exchange);
      // The library takes the responses out of the parameters.
      const { inputResponses: responses } = exchange.mcpReq;
      if (!responses) throw new ProtocolError(INVALID_PARAMS, '`params.inputResponses` is required.');
      await sourceOf(exchange).update(taskId, responses);
      return { resultType: 'complete' };
    },
  );
  server.setRequestHandler(
    'tasks/cancel',
    { params: CancelTaskRequestV2Schema.shape.params },
    async ({ taskId }, exchange) => {
      requireTasks(exchange);
      await sourceOf(exchange).cancel(taskId);
      return { resultType: 'complete' };
    },
  );
}

export const taskNotFound = (data?: object) =>
  new ProtocolError(INVALID_PARAMS, 'The task was not found.', data);

export const missingTasks = () =>
  new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: TASKS_EXTENSION } });

function requireTasks(exchange: ServerContext): void {
  if (!clientCapabilities(exchange).tasks) throw missingTasks();
}
