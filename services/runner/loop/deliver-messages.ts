import type { CallOptions, Client } from '../../../lib/grpc/contract.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { retryTransient } from '../workspace/retry-transient.ts';
import { deliveredMessage } from './history.ts';
import type { ModelTurnState } from './run-model-step.ts';
import type { ToolCallOptions } from './tool-call-options.ts';

export interface DeliverMessagesOptions extends Pick<ToolCallOptions, 'clock' | 'reporter'> {
  sessions: Pick<Client<SessionsServiceDefinition>, 'deliverMessages'>;
}

/**
 * Adds the messages that steer the turn, if there may be any, to those of its next model step. Everything before that step is
 * journaled first, so that later attempts get the messages in the same place. Resolves to false when the turn is lost.
 */
export async function deliverMessages(
  turn: LeasedTurn,
  state: Pick<ModelTurnState, 'messages' | 'newestSeq' | 'isHistoryCurrent'>,
  step: number,
  { sessions, clock, reporter }: DeliverMessagesOptions,
): Promise<boolean> {
  if (!turn.isSteered) return true;
  if (!(await reporter.commit(turn))) return false;
  const { sessionId, turnId, fence } = turn.claimed;
  const lease = { sessionId, turnId, fence };
  const call: CallOptions = { trace: turn.span.trace, signal: turn.signal };
  for (let hasMore = true; hasMore; ) {
    // Cleared before the call: a message that comes meanwhile sets it again.
    turn.isSteered = false;
    const request = { lease, step, afterSeq: state.newestSeq };
    const response = await retryTransient(clock, turn.signal, () => sessions.deliverMessages(request, call));
    state.messages.push(...response.messages.map(({ json }) => deliveredMessage(JSON.parse(json))));
    state.newestSeq = response.messages.at(-1)?.seq ?? state.newestSeq;
    if (response.messages.length > 0) state.isHistoryCurrent = false;
    hasMore = response.hasMore;
  }
  return true;
}
