import type { ClaimedTurn, NewEvent, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type House, reportOn, send } from './house.ts';

/*
 * What a runner reports of tool calls, said by hand.
 */

export const event = (type: string, data: object): NewEvent => ({ type, dataJson: JSON.stringify(data) });

/** A model step that ends with calls. */
export function calling(messageId: string, ...calls: { id: string; input?: unknown }[]): NewEvent[] {
  const parts = calls.map(({ id, input = {} }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: 'count',
    input,
  }));
  return [
    event('model.request_started', { model: 'rehearsal/script' }),
    event('agent.message', {
      message_id: messageId,
      content: parts,
      model: 'rehearsal/script',
      finish_reason: 'tool-calls',
    }),
    ...calls.map(({ id, input = {} }) =>
      event('agent.tool_use', { tool_use_id: id, name: 'count', input, evaluated_permission: 'ask' }),
    ),
  ];
}

export const dispatching = (id: string, attempt: number, fence: number) =>
  event('agent.tool_dispatched', { tool_use_id: id, attempt, fence });

export const resulting = (id: string, output: unknown = 'done') =>
  event('agent.tool_result', { tool_use_id: id, output, is_error: false, duration_ms: 1 });

export function answering(messageId: string, text: string): NewEvent[] {
  const content = [{ type: 'text', text }];
  return [
    event('agent.message', {
      message_id: messageId,
      content,
      model: 'rehearsal/script',
      finish_reason: 'stop',
    }),
  ];
}

/** The turn waits for somebody to decide about these calls. */
export function asking(...asks: { id: string; input?: unknown; kind?: string }[]): TurnReport['outcome'] {
  return {
    kind: {
      $case: 'blocked',
      value: {
        asks: asks.map(({ id, input = {}, kind = 'tool' }) => ({
          kind,
          toolUseId: id,
          toolName: 'count',
          inputJson: JSON.stringify(input),
        })),
      },
    },
  };
}

/** Reports with running numbers, each of which must be appended. */
export function reporter(house: House, turn: ClaimedTurn) {
  let reportSeq = 0;
  return async (more: Partial<TurnReport>) => {
    const [result] = await send(house, reportOn(turn, ++reportSeq, more));
    if (result?.errorCode !== '') throw new Error(`${result?.errorCode}: ${result?.errorMessage}`);
  };
}
