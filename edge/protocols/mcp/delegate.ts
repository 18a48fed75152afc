import { Refusal } from '../../../lib/errors.ts';
import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { NO_INLINE_DATA } from '../../input/inline-data.ts';
import { readContent, refuseContentAt } from '../../schemas/content.ts';
import { requestInputs } from './input/request-inputs.ts';
import type { McpOperation } from './operation.ts';
import type { ProgressReporter } from './progress.ts';
import { createdTask } from './tasks/task.ts';
import type { DeferredResult, ToolResult } from './tool.ts';
import { resultOfQueued, resultWithoutTurn, turnResult } from './turn-result.ts';
import { type AwaitedTurn, awaitTurn, readTurn } from './waiting.ts';

export interface WaitOptions {
  seconds: number | undefined;
  progress: ProgressReporter | undefined;
}

interface NewConversation {
  agentId: string;
  message: string | undefined;
  title?: string | undefined;
  idempotencyKey: string | undefined;
}

/** Begins a conversation and waits for its first turn. The caller has checked the access to the agent. */
export async function beginConversation(
  operation: McpOperation,
  { agentId, message, title = '', idempotencyKey = '' }: NewConversation,
  wait: WaitOptions,
): Promise<ToolResult | DeferredResult> {
  const { context, call } = operation;
  const { session, turnId } = await context.clients.sessions
    .createConversation(
      {
        agentId,
        ...contentOf(message),
        files: undefined,
        overrides: undefined,
        title,
        metadata: {},
        idempotencyKey,
      },
      call,
    )
    .catch(refuseContentAt('/message'));
  const sessionId = session?.sessionId ?? '';
  return turnId
    ? queuedAnswer(operation, { sessionId, turnId }, wait)
    : resultWithoutTurn(operation, sessionId);
}

interface NewMessage {
  sessionId: string;
  message: string;
  busyPolicy?: string | undefined;
  idempotencyKey: string | undefined;
}

/** Sends a message and waits for its turn. The caller has checked the access to the session. */
export async function continueConversation(
  operation: McpOperation,
  { sessionId, message, busyPolicy = 'enqueue', idempotencyKey = '' }: NewMessage,
  wait: WaitOptions,
): Promise<ToolResult | DeferredResult> {
  const { context, call } = operation;
  const { turnId } = await context.clients.sessions
    .sendMessage({ sessionId, ...contentOf(message), overrides: undefined, busyPolicy, idempotencyKey }, call)
    .catch(refuseContentAt('/message'));
  return queuedAnswer(operation, { sessionId, turnId }, wait);
}

/**
 * The result of a turn that the call has queued: its task for a client that understands tasks, else its answer. The call has had
 * its effect, so the client gets the ids when the turn cannot be read now.
 */
async function queuedAnswer(
  operation: McpOperation,
  turn: AwaitedTurn,
  wait: WaitOptions,
): Promise<ToolResult | DeferredResult> {
  const { tasks } = operation.client;
  const task = (read: Turn | undefined) => ({
    // The library requires content.
    deferred: { content: [], ...createdTask(operation, turn, read) },
  });
  try {
    return tasks ? task((await readTurn(operation, turn)).turn) : await waitForAnswer(operation, turn, wait);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'CANCELLED') throw error;
    return tasks ? task(undefined) : resultOfQueued(operation, turn);
  }
}

/** The answer of a turn, or the requests that a client without tasks can answer for its user when the turn is blocked. */
export async function waitForAnswer(
  operation: McpOperation,
  turn: AwaitedTurn,
  { seconds, progress }: WaitOptions,
  answered: readonly string[] = [],
): Promise<ToolResult | DeferredResult> {
  const found = await awaitTurn(operation, turn, seconds, progress);
  const requests = await requestInputs(operation, found, answered);
  return requests ? { deferred: requests } : turnResult(operation, found);
}

const contentOf = (message: string | undefined) =>
  message === undefined
    ? { contentJson: '', attachments: undefined }
    : readContent(message, '/message', NO_INLINE_DATA);
