import { ProtocolError } from '@modelcontextprotocol/server';
import { Refusal } from '../../../../lib/errors.ts';
import type { GetTurnResponse } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { answerInputs } from '../input/answer-inputs.ts';
import { openInputs } from '../input/open-inputs.ts';
import type { McpOperation } from '../operation.ts';
import { isNotFound, resourceError } from '../resources/resource-error.ts';
import { ownSession } from '../session-access.ts';
import { type AwaitedTurn, readTurn } from '../waiting.ts';
import { type TaskSource, taskNotFound } from './serve-tasks.ts';
import { detailedTask } from './task.ts';
import { turnOfTask } from './task-id.ts';

const ENDED = new Set(['completed', 'failed', 'interrupted', 'cancelled']);

/** The tasks that the client of an operation sees: turns of its user in sessions that the endpoint offers. */
export function taskSource(operation: McpOperation): TaskSource {
  async function find(taskId: string): Promise<{ turn: AwaitedTurn; found: GetTurnResponse }> {
    const { context, call } = operation;
    const turn = turnOfTask(context.deriveKey, call.caller.userId, taskId);
    if (!turn) throw unknownTask(operation);
    await ownSession(operation, turn.sessionId);
    return { turn, found: await readTurn(operation, turn) };
  }

  return {
    get: (taskId) => withErrors(operation, async () => detailedTask(operation, (await find(taskId)).found)),

    update: (taskId, responses) =>
      withErrors(operation, async () => {
        const { turn, found } = await find(taskId);
        if (found.turn?.status !== 'blocked') return;
        const inputs = await openInputs(operation, found.turn);
        await answerInputs(operation, turn.sessionId, inputs, responses);
      }),

    cancel: (taskId) =>
      withErrors(operation, async () => {
        const { turn, found } = await find(taskId);
        if (!ENDED.has(found.turn?.status ?? ''))
          await cancel(operation, turn, found.turn?.status === 'queued');
      }),
  };
}

/** Removes the turn from the queue, or interrupts it. Another turn of the session is left as it is. */
async function cancel({ context, call }: McpOperation, turn: AwaitedTurn, isQueued: boolean): Promise<void> {
  const { sessions } = context.clients;
  if (isQueued) {
    try {
      await sessions.cancelTurn(turn, call);
      return;
    } catch (error) {
      // It has started in the meantime.
      if (!(error instanceof Refusal && error.code === 'TURN_NOT_QUEUED')) throw error;
    }
  }
  await sessions.interruptSession({ ...turn }, call);
}

/** A task of another user, of an agent that is not offered, an altered id: all look the same to the client. */
async function withErrors<Result>(operation: McpOperation, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    throw isNotFound(error) ? unknownTask(operation) : resourceError(operation, error);
  }
}

function unknownTask({ outcome, requestId }: McpOperation): ProtocolError {
  outcome.errorCode = 'TURN_NOT_FOUND';
  return taskNotFound({ code: outcome.errorCode, request_id: requestId });
}
