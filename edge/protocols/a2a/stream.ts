import type { Artifact, StreamResponse, TaskStatus } from '@a2a-js/sdk';
import { UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { AnswerFold } from '../openai/answer-fold.ts';
import { readAnswer } from '../openai/read-answer.ts';
import { fileArtifacts } from './file-artifacts.ts';
import { type A2aOperation, requireTask, taskIdOf } from './operation.ts';
import { answerOf, textPart } from './parts.ts';
import { readTaskRequest } from './request.ts';
import { artifactsOf, isFinal, outputParts, statusOf, type TaskOptions, taskOf } from './task.ts';

export type TaskStream = AsyncGenerator<StreamResponse, void>;

interface StreamOptions extends TaskOptions {
  /** The turn has waited up to this seq. The stream ends when it waits again. */
  answeredUpTo?: number;
}

/** Answers SubscribeToTask. The stream of a task that waits goes on when a person has answered in the console. */
export async function* subscribe(operation: A2aOperation, params: unknown): TaskStream {
  const { turn, session } = await requireTask(operation, readTaskRequest(params).id);
  if (isFinal(turn)) throw new UnsupportedOperationError(`The task is ${turn.status}.`);
  yield* streamOf(operation, turn, { answeredUpTo: session.lastSeq });
}

/**
 * The events of a task: the task as it is, then its progress until it is final or waits for a person. They follow from the
 * journal, so that a stream begins at any replica.
 */
export async function* streamOf(
  operation: A2aOperation,
  begun: Turn,
  { answeredUpTo = 0, ...options }: StreamOptions,
): TaskStream {
  const { context, call } = operation;
  const fold = new AnswerFold(begun.turnId);
  const started = { ...begun, from: begun.position };
  const place = { taskId: taskIdOf(begun), contextId: begun.sessionId, metadata: undefined };
  const statusUpdate = (status: TaskStatus): StreamResponse => ({
    payload: { $case: 'statusUpdate', value: { ...place, status } },
  });
  const artifactUpdate = (artifact: Artifact, append: boolean, lastChunk: boolean): StreamResponse => ({
    payload: { $case: 'artifactUpdate', value: { ...place, artifact, append, lastChunk } },
  });
  const current = async () => (await requireTask(operation, place.taskId)).turn;
  /** The turn as the journal tells it so far. */
  const folded = (): Turn => ({ ...begun, status: fold.lastSeq > 0 ? 'in_progress' : 'queued' });
  let shown: Turn | undefined;
  let shownSeq = 0;
  let length = 0;

  for await (const { texts, caughtUp } of readAnswer(context.clients, call, started, fold, {
    answeredUpTo,
  })) {
    if (!shown) {
      if (!caughtUp && !fold.end) continue;
      const turn = fold.end || fold.isWaiting ? await current() : folded();
      // The journal is told up to here. The end follows.
      shown = isFinal(turn) && !fold.end ? folded() : turn;
      shownSeq = fold.lastSeq;
      const task = await taskOf(operation, shown, options, await artifactsOf(operation, shown, fold.text));
      yield { payload: { $case: 'task', value: task } };
    } else {
      if (shown.status !== 'in_progress' && !fold.isWaiting && fold.lastSeq > shownSeq) {
        shown = folded();
        yield statusUpdate(await statusOf(operation, shown));
      }
      const text = texts.map((one) => one.text).join('');
      if (text !== '') yield artifactUpdate(answerOf([textPart(text)]), length > 0, false);
    }
    length = fold.text.length;
  }
  if (fold.lastSeq === shownSeq) return;
  const turn = await current();
  const output = outputParts(turn);
  if (output.length > 0) yield artifactUpdate(answerOf(output), length > 0, true);
  const files = isFinal(turn) ? await fileArtifacts(operation, turn) : [];
  for (const file of files) yield artifactUpdate(file, false, true);
  yield statusUpdate(await statusOf(operation, turn));
}
