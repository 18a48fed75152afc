import type { WaitOptions } from '../delegate.ts';
import { waitForAnswer } from '../delegate.ts';
import type { McpOperation } from '../operation.ts';
import { ownSession } from '../session-access.ts';
import type { DeferredResult, ToolResult } from '../tool.ts';
import { readTurn } from '../waiting.ts';
import { answerInputs } from './answer-inputs.ts';
import { openInputs } from './open-inputs.ts';
import type { RequestState } from './request-state.ts';

/**
 * Continues a call that has asked the client for inputs: answers those that it was asked for, and waits for the turn again. It
 * queues no turn. Requests without a response are repeated.
 */
export async function continueTurn(
  operation: McpOperation,
  { asked, answered, ...turn }: RequestState,
  responses: Readonly<Record<string, unknown>>,
  wait: WaitOptions,
): Promise<ToolResult | DeferredResult> {
  await ownSession(operation, turn.sessionId);
  const { turn: found } = await readTurn(operation, turn);
  const given = asked.filter((key) => Object.hasOwn(responses, key));
  if (found?.status === 'blocked' && given.length > 0) {
    const inputs = (await openInputs(operation, found)).filter(({ key }) => given.includes(key));
    await answerInputs(operation, found.sessionId, inputs, responses);
  }
  return waitForAnswer(operation, turn, wait, [...answered, ...given]);
}
