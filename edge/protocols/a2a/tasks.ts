import { TaskNotCancelableError } from '@a2a-js/sdk/errors';
import { Refusal } from '../../../lib/errors.ts';
import { type A2aOperation, requireTask } from './operation.ts';
import { readTaskRequest } from './request.ts';
import { isFinal, wholeTask } from './task.ts';

export async function getTask(operation: A2aOperation, params: unknown) {
  const request = readTaskRequest(params);
  const { turn } = await requireTask(operation, request.id);
  return wholeTask(operation, turn, request);
}

/** Interrupts the turn, or removes it from the queue. A task that is canceled already is returned as it is. */
export async function cancelTask(operation: A2aOperation, params: unknown) {
  const { id } = readTaskRequest(params);
  const { sessions } = operation.context.clients;
  const found = (await requireTask(operation, id)).turn;
  if (!isFinal(found)) {
    const { sessionId, turnId } = found;
    await sessions.interruptSession({ sessionId, turnId }, operation.call);
    // A turn that waits behind others is not interrupted. It is removed from the queue.
    await sessions.cancelTurn({ sessionId, turnId }, operation.call).catch(ignoreStarted);
  }
  const { turn } = await requireTask(operation, id);
  if (turn.status === 'interrupted' || turn.status === 'cancelled') return wholeTask(operation, turn, {});
  throw new TaskNotCancelableError(`The task is ${turn.status}.`);
}

function ignoreStarted(error: unknown): void {
  if (!(error instanceof Refusal) || error.code !== 'TURN_NOT_QUEUED') throw error;
}
