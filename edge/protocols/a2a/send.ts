import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { wait } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { waitForTurn } from '../../routes/turn-wait.ts';
import { startTurn } from '../openai/start-turn.ts';
import { answerTask } from './answers.ts';
import { type A2aOperation, ownSession, requireTask } from './operation.ts';
import { contentOf, readSendRequest, type SendRequest } from './request.ts';
import { streamOf, type TaskStream } from './stream.ts';
import { isFinal, wholeTask } from './task.ts';

const WAIT_SECONDS = 50;
/** A stopping sessions service answers early. */
const RETRY_MS = 1_000;

/** Answers SendMessage: waits until the task is final or waits for a person, unless the client wants it immediately. */
export async function sendMessage(operation: A2aOperation, params: unknown) {
  const request = readSendRequest(params);
  const { turn } = await start(operation, request);
  const options = request.configuration ?? {};
  const waited = options.returnImmediately ? turn : await awaitTurn(operation, turn);
  return wholeTask(operation, waited, options);
}

/** Answers SendStreamingMessage. */
export async function* streamMessage(operation: A2aOperation, params: unknown): TaskStream {
  const request = readSendRequest(params);
  const { turn, answeredUpTo } = await start(operation, request);
  // A turn with further open questions waits still.
  const isWaiting = turn.status === 'blocked';
  yield* streamOf(operation, turn, { ...request.configuration, answeredUpTo: isWaiting ? 0 : answeredUpTo });
}

/** The turn that a message has started, or that goes on with its answer. */
interface StartedTask {
  turn: Turn;
  /** The turn has waited up to this seq. */
  answeredUpTo: number;
}

async function start(operation: A2aOperation, request: SendRequest): Promise<StartedTask> {
  const { message, configuration } = request;
  if (configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
  if (!message.taskId) return startTask(operation, request);
  const { turn, session } = await requireTask(operation, message.taskId);
  if (message.contextId && message.contextId !== turn.sessionId)
    throw new RequestMalformedError('The task belongs to another context.');
  if (isFinal(turn))
    throw new UnsupportedOperationError(
      `The task is ${turn.status}. Send the message without taskId to continue its context.`,
    );
  await answerTask(operation, turn, request);
  return { turn: (await requireTask(operation, message.taskId)).turn, answeredUpTo: session.lastSeq };
}

async function startTask(operation: A2aOperation, request: SendRequest): Promise<StartedTask> {
  const { context, call, agent } = operation;
  const { messageId, contextId } = request.message;
  const content = contentOf(request);
  if (contextId && !(await ownSession(operation, contextId)))
    throw new RequestMalformedError('The context does not exist, or you do not have access to it.');
  const { sessionId, turnId } = await startTurn(
    context.clients,
    call,
    contextId ? { kind: 'session', sessionId: contextId } : { kind: 'new', metadata: {} },
    {
      ...{ agent, content, pointer: '/message/parts', overrides: undefined },
      // A client that repeats a message whose answer was lost gets its task.
      idempotencyKey: sha256(`a2a ${agent.agentId} ${messageId}`),
    },
  );
  const { turn } = await context.clients.sessions.getTurn({ sessionId, turnId }, call);
  if (!turn) throw new Error('The sessions service returned no turn.');
  return { turn, answeredUpTo: 0 };
}

/** The turn when it is final or waits for a person, or earlier when this process stops. */
async function awaitTurn({ context, call }: A2aOperation, begun: Turn): Promise<Turn> {
  const { clients, clock, draining, protocolMetrics } = context;
  const endWait = protocolMetrics.beginWait('a2a');
  try {
    for (let turn = begun; ; ) {
      if (isStopped(turn) || draining.aborted) return turn;
      const asked = clock.now().getTime();
      turn = (await waitForTurn({ clients, call, draining }, turn, WAIT_SECONDS)).turn ?? turn;
      const isEarly = !isStopped(turn) && clock.now().getTime() - asked < RETRY_MS;
      if (isEarly) await wait(clock, RETRY_MS, call.signal);
    }
  } finally {
    endWait();
  }
}

const isStopped = (turn: Turn) => isFinal(turn) || turn.status === 'blocked';
