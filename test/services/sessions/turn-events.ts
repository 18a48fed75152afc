import type { ClaimedTurn, NewEvent, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { reportFor, type SessionsSystem, sendReports } from './system.ts';

/* Builders for the events and outcomes that a runner reports. */

export const newEvent = (type: string, data: object): NewEvent => ({ type, dataJson: JSON.stringify(data) });

/** The events of a model step that ends with tool calls. */
export function toolCallStep(
  messageId: string,
  ...calls: { id: string; input?: unknown; kind?: string }[]
): NewEvent[] {
  const parts = calls.map(({ id, input = {} }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: 'count',
    input,
  }));
  return [
    newEvent('model.request_started', { model: 'rehearsal/script' }),
    newEvent('agent.message', {
      message_id: messageId,
      content: parts,
      model: 'rehearsal/script',
      finish_reason: 'tool-calls',
    }),
    ...calls.map(({ id, input = {}, kind }) =>
      newEvent('agent.tool_use', {
        tool_use_id: id,
        name: 'count',
        input,
        evaluated_permission: 'ask',
        kind,
      }),
    ),
  ];
}

export const toolDispatched = (id: string, attempt: number, fence: number) =>
  newEvent('agent.tool_dispatched', { tool_use_id: id, attempt, fence });

export const toolResult = (id: string, output: unknown = 'done') =>
  newEvent('agent.tool_result', { tool_use_id: id, output, is_error: false, duration_ms: 1 });

export function agentMessage(messageId: string, text: string): NewEvent[] {
  const content = [{ type: 'text', text }];
  return [
    newEvent('agent.message', {
      message_id: messageId,
      content,
      model: 'rehearsal/script',
      finish_reason: 'stop',
    }),
  ];
}

/** The outcome of a turn that requests an approval or an answer for each of these calls. */
export function blockedOn(...asks: { id: string; input?: unknown; kind?: string }[]): TurnReport['outcome'] {
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

/** Returns a function that sends reports with consecutive report_seq and throws when one is refused. */
export function createReporter(system: SessionsSystem, turn: ClaimedTurn) {
  let reportSeq = 0;
  return async (more: Partial<TurnReport>) => {
    const [result] = await sendReports(system, reportFor(turn, ++reportSeq, more));
    if (result?.errorCode !== '') throw new Error(`${result?.errorCode}: ${result?.errorMessage}`);
  };
}
