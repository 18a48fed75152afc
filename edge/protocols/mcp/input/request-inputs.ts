import type { InputRequiredResult } from '@modelcontextprotocol/server';
import type { GetTurnResponse } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { McpOperation } from '../operation.ts';
import { inputRequests } from './input-requests.ts';
import { openInputs } from './open-inputs.ts';
import { sealRequestState } from './request-state.ts';

/**
 * The result that asks the client for the inputs of a blocked turn, with a state for the repeated call. Undefined if nothing is
 * left to ask. `answered` are the keys of earlier requests: an input whose form was closed, or that is decided in the console,
 * is not asked again. A client with tasks gets its requests with `tasks/get`.
 */
export async function requestInputs(
  operation: McpOperation,
  { turn }: GetTurnResponse,
  answered: readonly string[],
): Promise<InputRequiredResult | undefined> {
  const { client, context, call } = operation;
  if (turn?.status !== 'blocked' || client.tasks || !(client.forms || client.urls)) return undefined;
  const { sessionId, turnId } = turn;
  const all = inputRequests(operation, sessionId, await openInputs(operation, turn));
  const asked = Object.keys(all).filter((key) => !answered.includes(key));
  if (asked.length === 0) return undefined;
  const state = { sessionId, turnId, asked, answered };
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(Object.entries(all).filter(([key]) => asked.includes(key))),
    requestState: sealRequestState(context.deriveKey, call.caller.userId, state, context.clock.now()),
  };
}
