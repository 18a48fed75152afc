import type {
  CancelledTaskV2,
  CompletedTaskV2,
  CreateTaskResultV2,
  FailedTaskV2,
  InputRequiredTaskV2,
  TaskV2,
  WorkingTaskV2,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import type { CallToolResult, InputRequests } from '@modelcontextprotocol/server';
import { timeOf } from '../../../../lib/ids.ts';
import type { GetTurnResponse, Turn } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { serializeTime } from '../../../schemas/common.ts';
import { inputRequests } from '../input/input-requests.ts';
import { openInputs } from '../input/open-inputs.ts';
import { INTERNAL_ERROR } from '../json-rpc.ts';
import type { McpOperation } from '../operation.ts';
import { callToolResult } from '../tool.ts';
import { consoleUrl, turnResult } from '../turn-result.ts';
import { type AwaitedTurn, describeTurn } from '../waiting.ts';
import { taskIdOf } from './task-id.ts';

/** A task is read as often as progress of a waiting call is reported. */
const POLL_INTERVAL_MS = 2_000;

type TaskStatus = TaskV2['status'];

/** A task with what belongs to its status. */
export type DetailedTask =
  | WorkingTaskV2
  | (Omit<InputRequiredTaskV2, 'inputRequests'> & { inputRequests: InputRequests })
  | (Omit<CompletedTaskV2, 'result'> & { result: CallToolResult })
  | FailedTaskV2
  | CancelledTaskV2;

const STATUSES: Readonly<Record<string, TaskStatus>> = {
  queued: 'working',
  in_progress: 'working',
  blocked: 'input_required',
  completed: 'completed',
  failed: 'failed',
  interrupted: 'cancelled',
  cancelled: 'cancelled',
};

const statusOf = ({ status }: Pick<Turn, 'status'>): TaskStatus => STATUSES[status] ?? 'working';

/** The result of a call that has queued a turn. `turn` is undefined when it cannot be read now. */
export function createdTask(
  operation: McpOperation,
  awaited: AwaitedTurn,
  turn: Turn | undefined,
): CreateTaskResultV2 {
  const status = turn ? statusOf(turn) : 'working';
  return { resultType: 'task', ...commonMembers(operation, awaited, turn), status };
}

/** The state of a task, which is the state of its turn. A task exists as long as its session. */
export async function detailedTask(operation: McpOperation, found: GetTurnResponse): Promise<DetailedTask> {
  const { turn } = found;
  if (!turn) throw new Error('The sessions service returned no turn.');
  const common = commonMembers(operation, turn, turn);
  const page = consoleUrl(operation, turn.sessionId);
  const status = statusOf(turn);
  switch (status) {
    case 'working':
      return { ...common, status, statusMessage: await describeTurn(operation, turn, found) };
    case 'input_required': {
      const requests = inputRequests(operation, turn.sessionId, await openInputs(operation, turn));
      return {
        ...common,
        status,
        statusMessage: `The agent waits for a person: ${page}`,
        inputRequests: requests,
      };
    }
    case 'completed':
      return {
        ...common,
        status,
        result: { resultType: 'complete', ...callToolResult(await turnResult(operation, found)) },
      };
    case 'failed': {
      const error = errorOf(turn, page);
      return { ...common, status, statusMessage: error.message, error };
    }
    case 'cancelled':
      return { ...common, status, statusMessage: `The turn was ${turn.status}.` };
  }
}

function commonMembers(operation: McpOperation, awaited: AwaitedTurn, turn: Turn | undefined) {
  const { context, call } = operation;
  const createdAt = turn?.createdAt ?? timeOf(awaited.turnId);
  return {
    taskId: taskIdOf(context.deriveKey, call.caller.userId, awaited),
    createdAt: serializeTime(createdAt),
    lastUpdatedAt: serializeTime(turn?.finishedAt ?? turn?.startedAt ?? createdAt),
    ttlMs: null,
    pollIntervalMs: POLL_INTERVAL_MS,
  };
}

function errorOf({ errorJson, sessionId, turnId }: Turn, page: string) {
  const { code, message }: { code: string; message: string } = JSON.parse(errorJson);
  return {
    code: INTERNAL_ERROR,
    message,
    data: { code, session_id: sessionId, turn_id: turnId, console_url: page },
  };
}
