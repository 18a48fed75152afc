import fc from 'fast-check';
import type { TurnEvent } from '../../../edge/ai-stream/journal.ts';

export const TURN = `trn_${'0'.repeat(26)}`;
const OTHER = `trn_${'1'.repeat(26)}`;
const RUN = { turn_id: TURN, attempt: 1, fence: 1 };
const USAGE = { input_tokens: 1, output_tokens: 1, steps: 1, tool_calls: 0, active_seconds: 0 };

type Draft = Omit<TurnEvent, 'seq' | 'turn_id'>;

/** Numbers events and gives them to the turn. */
export function journalOf(drafts: readonly Draft[]): TurnEvent[] {
  return drafts.map((draft, i) => ({ seq: i + 1, turn_id: TURN, ...draft }) as TurnEvent);
}

const event = <Type extends TurnEvent['type']>(
  type: Type,
  data: Extract<TurnEvent, { type: Type }>['data'],
): Draft => ({ type, data }) as Draft;

export const say = {
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
  message: (message_id: string, content: { type: string; text?: string }[], finish_reason = 'stop') =>
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
  asked: (approval_id: string, tool_use_id: string, kind: 'tool' | 'outcome_unknown' = 'tool') =>
    event('approval.requested', { approval_id, kind, tool_use_id, expires_at: '2026-01-01T00:00:00.000Z' }),
  decided: (approval_id: string, decision: string, reason?: string) =>
    event('approval.decided', { approval_id, decision, by: 'usr_1', ...(reason && { reason }) }),
};

const text = fc.string({ unit: 'grapheme', maxLength: 12 });

/** A step's message: perhaps attempts that are discarded, then deltas that are a beginning of what it says. */
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
        if (dropped !== null) drafts.push(say.thinking(id, dropped));
        drafts.push(...deltas.map((delta) => say.delta(id, delta)), say.discarded(id), say.retrying());
      }
      const id = `msg_${step}`;
      const content: { type: string; text?: string }[] = blocks.map((one) => ({ type: 'text', text: one }));
      if (thought !== null) {
        drafts.push(say.thinking(id, thought));
        content.unshift({ type: 'reasoning', text: thought });
      }
      const whole = blocks.join('');
      const places = spoken
        ? [0, ...cuts.sort((a, b) => a - b)].map((cut) => Math.min(cut, whole.length))
        : [0];
      for (let i = 1; i < places.length; i++) {
        const delta = whole.slice(places[i - 1], places[i]);
        if (delta !== '') drafts.push(say.delta(id, delta));
      }
      for (let i = 0; i < calls; i++) content.push({ type: 'tool-call' });
      return [...drafts, say.message(id, content, calls > 0 ? 'tool-calls' : 'stop')];
    });
}

/** What becomes of one call: what is asked first, what is decided, what happens then. */
const fate = fc.record({
  ask: fc.constantFrom(undefined, 'tool' as const, 'outcome_unknown' as const),
  decision: fc.constantFrom('allow', 'deny'),
  reason: fc.option(text, { nil: undefined }),
  progress: fc.array(text, { maxLength: 2 }),
  output: fc.oneof(text, fc.constant({ sum: 2 })),
  isError: fc.boolean(),
  edited: fc.option(fc.constant({ b: 2 }), { nil: undefined }),
});

function stepOf(step: number): fc.Arbitrary<Draft[]> {
  return fc.array(fate, { maxLength: 3 }).chain((fates) =>
    messageOf(step, fates.length).map((message) => {
      const calls = fates.map((one, i) => ({
        ...one,
        id: `call_${step}_${i}`,
        approval: `apr_${step}_${i}`,
      }));
      const asked = calls.filter(({ ask }) => ask);
      const run = (list: typeof calls) =>
        list.flatMap(({ id, ask, decision, progress, output, isError, edited }) => {
          if (ask && decision === 'deny') return [say.result(id, 'denied', true)];
          const pieces = progress.map((one) => say.progress(id, one));
          return [say.dispatched(id), ...pieces, say.result(id, output, isError, ask && edited)];
        });
      const cutOff = asked.filter(({ ask }) => ask === 'outcome_unknown');
      return [
        ...message,
        ...calls.map(({ id }) => say.used(id)),
        ...cutOff.flatMap(({ id, progress }) => [
          say.dispatched(id),
          ...progress.map((one) => say.progress(id, one)),
        ]),
        ...run(calls.filter(({ ask }) => !ask)),
        ...asked.map(({ approval, id, ask }) => say.asked(approval, id, ask)),
        ...(asked.length > 0 ? [say.blocked()] : []),
        ...asked.map(({ approval, ask, decision, reason }) =>
          say.decided(
            approval,
            ask === 'tool' ? decision : decision === 'allow' ? 'retry' : 'mark_failed',
            reason,
          ),
        ),
        ...(asked.length > 0 ? [say.started()] : []),
        ...run(asked),
      ];
    }),
  );
}

/** Turns of all kinds, with an event of another turn between any two. */
export const anyTurn: fc.Arbitrary<TurnEvent[]> = fc
  .tuple(
    fc.integer({ min: 1, max: 3 }).chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => stepOf(i)))),
    fc.constantFrom(say.completed(), say.failed('It broke.'), say.interrupted(), say.cancelled('gone')),
  )
  .map(([steps, end]) =>
    journalOf([say.started(), ...steps.flat(), end]).flatMap((one) => [
      { ...one, seq: one.seq * 2 - 1 },
      { ...(say.delta('msg_x', 'x') as TurnEvent), seq: one.seq * 2, turn_id: OTHER },
    ]),
  );
