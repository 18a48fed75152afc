import fc from 'fast-check';
import type { TurnEvent } from '../../../edge/ai-stream/journal.ts';
import type { ApprovalDetails, MessagePart } from '../../../lib/event-parts.ts';

export const TURN = `trn_${'0'.repeat(26)}`;
const OTHER = `trn_${'1'.repeat(26)}`;
const RUN = { turn_id: TURN, attempt: 1, fence: 1 };
const USAGE = { input_tokens: 1, output_tokens: 1, steps: 1, tool_calls: 0, active_seconds: 0 };

type Draft = Omit<TurnEvent, 'seq' | 'turn_id'>;

/** Adds seq and turn id to events. */
export function journalOf(drafts: readonly Draft[]): TurnEvent[] {
  return drafts.map((draft, i) => ({ seq: i + 1, turn_id: TURN, ...draft }) as TurnEvent);
}

const event = <Type extends TurnEvent['type']>(
  type: Type,
  data: Extract<TurnEvent, { type: Type }>['data'],
): Draft => ({ type, data }) as Draft;

export const turnEvent = {
  started: () => event('turn.started', RUN),
  completed: () => event('turn.completed', { ...RUN, usage: USAGE }),
  failed: (message: string) =>
    event('turn.failed', { ...RUN, error: { code: 'model_error', message }, usage: USAGE }),
  interrupted: () => event('turn.interrupted', { ...RUN, usage: USAGE }),
  cancelled: (reason: string) => event('turn.cancelled', { turn_id: TURN, reason }),
  blocked: () => event('turn.blocked', RUN),
  deleted: () => event('session.deleted', {}),
  retrying: () =>
    event('session.error', { error: { code: 'overloaded', message: 'Busy.' }, retry_status: 'retrying' }),
  delta: (message_id: string, delta: string) => event('agent.message_delta', { message_id, index: 0, delta }),
  thinking: (message_id: string, text: string) =>
    event('agent.thinking', { message_id, content: [{ type: 'text', text }] }),
  message: (message_id: string, content: MessagePart[], finish_reason = 'stop') =>
    event('agent.message', { message_id, content, model: 'rehearsal/script', finish_reason }),
  discarded: (message_id: string) => event('agent.message_discarded', { message_id, reason: 'stream_cut' }),
  used: (tool_use_id: string, input: object = { a: 1 }) =>
    event('agent.tool_use', { tool_use_id, name: 'calculator', input, evaluated_permission: 'allow' }),
  dispatched: (tool_use_id: string) => event('agent.tool_dispatched', { tool_use_id, attempt: 1, fence: 1 }),
  progress: (tool_use_id: string, output_delta: string) =>
    event('agent.tool_progress', { tool_use_id, output_delta }),
  result: (tool_use_id: string, output: unknown, is_error = false, edited?: object) =>
    event('agent.tool_result', {
      tool_use_id,
      output,
      is_error,
      duration_ms: 1,
      ...(edited && { edited_input: edited }),
    }),
  approvalRequested: (approval_id: string, tool_use_id: string, kind: 'tool' | 'outcome_unknown' = 'tool') =>
    event('approval.requested', { approval_id, kind, tool_use_id, expires_at: '2026-01-01T00:00:00.000Z' }),
  authorizationRequested: (approval_id: string, details: ApprovalDetails) =>
    event('approval.requested', {
      ...{ approval_id, kind: 'authorization', details, expires_at: '2026-01-01T00:00:00.000Z' },
    }),
  decided: (approval_id: string, decision: string, reason?: string) =>
    event('approval.decided', { approval_id, decision, by: 'usr_1', ...(reason && { reason }) }),
};

const text = fc.string({ unit: 'grapheme', maxLength: 12 });

/** The message of a step: optional discarded attempts, then deltas with a prefix of the final text. */
function messageOf(step: number, calls: number): fc.Arbitrary<Draft[]> {
  const attempt = fc.record({ deltas: fc.array(text, { maxLength: 3 }), thought: fc.option(text) });
  return fc
    .record({
      discarded: fc.array(attempt, { maxLength: 2 }),
      thought: fc.option(text.filter((one) => one !== '')),
      blocks: fc.array(text, { maxLength: 3 }),
      cuts: fc.array(fc.nat(40), { maxLength: 3 }),
      spoken: fc.boolean(),
    })
    .map(({ discarded, thought, blocks, cuts, spoken }) => {
      const drafts: Draft[] = [];
      for (const [i, { deltas, thought: dropped }] of discarded.entries()) {
        const id = `msg_${step}_${i}`;
        if (dropped !== null) drafts.push(turnEvent.thinking(id, dropped));
        drafts.push(
          ...deltas.map((delta) => turnEvent.delta(id, delta)),
          turnEvent.discarded(id),
          turnEvent.retrying(),
        );
      }
      const id = `msg_${step}`;
      const content: MessagePart[] = blocks.map((one) => ({ type: 'text', text: one }));
      if (thought !== null) {
        drafts.push(turnEvent.thinking(id, thought));
        content.unshift({ type: 'reasoning', text: thought });
      }
      const text = blocks.join('');
      const places = spoken
        ? [0, ...cuts.sort((a, b) => a - b)].map((cut) => Math.min(cut, text.length))
        : [0];
      for (let i = 1; i < places.length; i++) {
        const delta = text.slice(places[i - 1], places[i]);
        if (delta !== '') drafts.push(turnEvent.delta(id, delta));
      }
      for (let i = 0; i < calls; i++)
        content.push({
          type: 'tool-call',
          toolCallId: `call_${step}_${i}`,
          toolName: 'calculator',
          input: {},
        });
      return [...drafts, turnEvent.message(id, content, calls > 0 ? 'tool-calls' : 'stop')];
    });
}

/** The course of one tool call: approval request, decision and result. */
const callCourse = fc.record({
  ask: fc.constantFrom(undefined, 'tool' as const, 'outcome_unknown' as const),
  decision: fc.constantFrom('allow', 'deny'),
  reason: fc.option(text, { nil: undefined }),
  progress: fc.array(text, { maxLength: 2 }),
  output: fc.oneof(text, fc.constant({ sum: 2 })),
  isError: fc.boolean(),
  edited: fc.option(fc.constant({ b: 2 }), { nil: undefined }),
});

function stepOf(step: number): fc.Arbitrary<Draft[]> {
  return fc.array(callCourse, { maxLength: 3 }).chain((courses) =>
    messageOf(step, courses.length).map((message) => {
      const calls = courses.map((one, i) => ({
        ...one,
        id: `call_${step}_${i}`,
        approval: `apr_${step}_${i}`,
      }));
      const withApproval = calls.filter(({ ask }) => ask);
      const run = (list: typeof calls) =>
        list.flatMap(({ id, ask, decision, progress, output, isError, edited }) => {
          if (ask && decision === 'deny') return [turnEvent.result(id, 'denied', true)];
          const pieces = progress.map((one) => turnEvent.progress(id, one));
          return [turnEvent.dispatched(id), ...pieces, turnEvent.result(id, output, isError, ask && edited)];
        });
      const cutOff = withApproval.filter(({ ask }) => ask === 'outcome_unknown');
      return [
        ...message,
        ...calls.map(({ id }) => turnEvent.used(id)),
        ...cutOff.flatMap(({ id, progress }) => [
          turnEvent.dispatched(id),
          ...progress.map((one) => turnEvent.progress(id, one)),
        ]),
        ...run(calls.filter(({ ask }) => !ask)),
        ...withApproval.map(({ approval, id, ask }) => turnEvent.approvalRequested(approval, id, ask)),
        ...(withApproval.length > 0 ? [turnEvent.blocked()] : []),
        ...withApproval.map(({ approval, ask, decision, reason }) =>
          turnEvent.decided(
            approval,
            ask === 'tool' ? decision : decision === 'allow' ? 'retry' : 'mark_failed',
            reason,
          ),
        ),
        ...(withApproval.length > 0 ? [turnEvent.started()] : []),
        ...run(withApproval),
      ];
    }),
  );
}

/** Arbitrary turns, with an event of another turn after each event. */
export const anyTurn: fc.Arbitrary<TurnEvent[]> = fc
  .tuple(
    fc.integer({ min: 1, max: 3 }).chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => stepOf(i)))),
    fc.constantFrom(
      turnEvent.completed(),
      turnEvent.failed('It broke.'),
      turnEvent.interrupted(),
      turnEvent.cancelled('gone'),
    ),
  )
  .map(([steps, end]) =>
    journalOf([turnEvent.started(), ...steps.flat(), end]).flatMap((one) => [
      { ...one, seq: one.seq * 2 - 1 },
      { ...(turnEvent.delta('msg_x', 'x') as TurnEvent), seq: one.seq * 2, turn_id: OTHER },
    ]),
  );
