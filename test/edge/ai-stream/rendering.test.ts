import { lastAssistantMessageIsCompleteWithApprovalResponses, safeValidateUIMessages } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterAsking, afterSeq } from '../../../edge/ai-stream/render.ts';
import { anyTurn, journalOf, say, TURN } from './journal.ts';
import { chunksOf, joined, piecesOf, read } from './reading.ts';

const TEXT = [{ type: 'text', text: 'Hello there' }];
const rendered = async (drafts: Parameters<typeof journalOf>[0]) =>
  chunksOf(await piecesOf(journalOf(drafts)));
const seen = async (drafts: Parameters<typeof journalOf>[0]) => read(await rendered(drafts));
const types = (chunks: { type: string }[]) => chunks.map(({ type }) => type);

describe('a turn as a UI message', () => {
  it('is named by its turn, has a step, its text and an end', async () => {
    const chunks = await rendered([
      say.started(),
      say.delta('m', 'Hel'),
      say.delta('m', 'lo'),
      say.message('m', TEXT),
      say.completed(),
    ]);
    expect(chunks).toEqual([
      { type: 'start', messageId: TURN },
      { type: 'start-step' },
      { type: 'text-start', id: 'm:0' },
      { type: 'text-delta', id: 'm:0', delta: 'Hel' },
      { type: 'text-delta', id: 'm:0', delta: 'lo' },
      { type: 'text-delta', id: 'm:0', delta: ' there' },
      { type: 'text-end', id: 'm:0' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'stop' },
    ]);
    const { message, errors } = await read(chunks);
    expect(errors).toEqual([]);
    expect(message).toMatchObject({ id: TURN, role: 'assistant' });
    expect(joined(message)).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'Hello there', state: 'done' },
    ]);
  });

  it('has the seq of each event on the last chunk that came of it', async () => {
    const pieces = await piecesOf(journalOf([say.started(), say.message('m', TEXT), say.completed()]));
    const shown = pieces.filter(({ chunks }) => chunks.length > 0);
    expect(shown.map(({ chunks, seq }) => [seq, types([...chunks])])).toEqual([
      [undefined, ['start']],
      [2, ['start-step', 'text-start', 'text-delta', 'text-end']],
      [3, ['finish-step', 'finish']],
    ]);
  });

  it('says once what was thought, whether a thought came of its own or only in the message', async () => {
    const content = [{ type: 'reasoning', text: 'Hm.' }, ...TEXT];
    const parts = [
      { type: 'step-start' },
      { type: 'reasoning', id: 'm:0', text: 'Hm.', state: 'done' },
      { type: 'text', text: 'Hello there', state: 'done' },
    ];
    for (const drafts of [
      [say.thinking('m', 'Hm.'), say.delta('m', 'He'), say.message('m', content)],
      [say.message('m', content)],
    ])
      expect(joined((await seen(drafts)).message)).toEqual(parts);
  });

  it('takes back exactly the attempt that was discarded', async () => {
    const { message } = await seen([
      say.message('a', [{ type: 'text', text: 'kept' }]),
      say.used('c'),
      say.result('c', 1),
      say.thinking('b', 'lost'),
      say.delta('b', 'lost'),
      say.discarded('b'),
      say.retrying(),
      say.message('d', TEXT),
      say.completed(),
    ]);
    expect(joined(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'kept' },
      { type: 'dynamic-tool', toolCallId: 'c', state: 'output-available', output: 1 },
      { type: 'step-start' },
      { type: 'text', text: 'Hello there', state: 'done' },
    ]);
  });

  it('shows a tool, what it has printed so far, and its result or its error', async () => {
    const begun = [
      say.message('m', [], 'tool-calls'),
      say.used('a', { x: 1 }),
      say.used('b'),
      say.dispatched('a'),
    ];
    const early = await seen([...begun, say.progress('a', 'one '), say.progress('a', 'two')]);
    expect(joined(early.message)).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', toolName: 'calculator', input: { x: 1 }, output: 'one two', preliminary: true },
      { type: 'dynamic-tool', state: 'input-available' },
    ]);
    const late = await seen([...begun, say.result('a', { y: 2 }), say.result('b', { why: 'no' }, true)]);
    expect(joined(late.message)).toMatchObject([
      { type: 'step-start' },
      { state: 'output-available', output: { y: 2 } },
      { state: 'output-error', errorText: '{"why":"no"}' },
    ]);
  });

  it('asks for an approval and rests there; what is decided and what comes of it goes on in the same parts', async () => {
    const asking = [
      say.message('m', [], 'tool-calls'),
      say.used('a'),
      say.used('b'),
      say.asked('apr_a', 'a'),
      say.asked('apr_b', 'b'),
      say.blocked(),
    ];
    const chunks = await rendered(asking);
    expect(types(chunks).slice(-3)).toEqual(['tool-approval-request', 'finish-step', 'finish']);
    const { message } = await read(chunks);
    expect(joined(message)).toMatchObject([
      { type: 'step-start' },
      { state: 'approval-requested', approval: { id: 'apr_a' } },
      { state: 'approval-requested', approval: { id: 'apr_b' } },
    ]);
    const half = journalOf([...asking, say.decided('apr_a', 'deny', 'too dear')]);
    const answered = chunksOf(await piecesOf(half, afterAsking(new Set(['apr_a']))));
    expect(types(answered)).toEqual([
      'start',
      'tool-approval-response',
      'tool-output-denied',
      'finish-step',
      'finish',
    ]);
    const all = journalOf([
      ...asking,
      say.decided('apr_a', 'deny', 'too dear'),
      say.decided('apr_b', 'allow'),
      say.started(),
      say.result('a', 'denied: too dear', true),
      say.result('b', 3, false, { z: 3 }),
      say.message('n', TEXT),
      say.completed(),
    ]);
    const rest = chunksOf(await piecesOf(all, afterAsking(new Set(['apr_a', 'apr_b']))));
    const { message: whole, errors } = await read(rest, message);
    expect(errors).toEqual([]);
    expect(joined(whole)).toMatchObject([
      { type: 'step-start' },
      { state: 'output-denied', approval: { id: 'apr_a', approved: false, reason: 'too dear' } },
      { state: 'output-available', input: { z: 3 }, output: 3, approval: { approved: true } },
      { type: 'step-start' },
      { type: 'text', text: 'Hello there' },
    ]);
  });

  it('a reader who comes back to a turn that waits gets the questions again', async () => {
    const journal = journalOf([
      say.message('m', [], 'tool-calls'),
      say.used('a'),
      say.asked('apr_a', 'a', 'outcome_unknown'),
      say.blocked(),
    ]);
    const chunks = chunksOf(await piecesOf(journal, afterSeq(4)));
    expect(chunks).toMatchObject([
      { type: 'start', messageId: TURN },
      { type: 'tool-input-available', toolCallId: 'a', dynamic: true },
      { type: 'tool-approval-request', approvalId: 'apr_a', reason: 'outcome_unknown' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'tool-calls' },
    ]);
  });

  it('ends with the error of a turn that failed, and aborts for one that was stopped', async () => {
    const begun = [say.delta('m', 'Hel'), say.discarded('m')];
    expect((await rendered([...begun, say.failed('It broke.')])).slice(-3)).toEqual([
      { type: 'finish-step' },
      { type: 'error', errorText: 'It broke.' },
      { type: 'finish', finishReason: 'error' },
    ]);
    for (const [end, reason] of [
      [say.interrupted(), 'interrupted'],
      [say.cancelled('deleted'), 'deleted'],
      [say.deleted(), 'session_deleted'],
    ] as const)
      expect((await rendered([...begun, end])).at(-1)).toEqual({ type: 'abort', reason });
  });

  it('a retry is a notice that leaves no trace in the message', async () => {
    const chunks = await rendered([say.retrying(), say.message('m', TEXT), say.completed()]);
    expect(chunks[1]).toEqual({
      type: 'data-retry',
      transient: true,
      data: { code: 'overloaded', message: 'Busy.' },
    });
    expect(joined((await read(chunks)).message)).toHaveLength(2);
  });

  it('comes back to half a text with what is new alone', async () => {
    const journal = journalOf([
      say.delta('m', 'Hel'),
      say.delta('m', 'lo'),
      say.message('m', TEXT),
      say.completed(),
    ]);
    expect(chunksOf(await piecesOf(journal, afterSeq(1))).slice(0, 3)).toEqual([
      { type: 'start', messageId: TURN },
      { type: 'text-start', id: 'm:0' },
      { type: 'text-delta', id: 'm:0', delta: 'lo' },
    ]);
    expect(await piecesOf(journal, afterSeq(4))).toEqual([]);
  });

  it('is the same message wherever a reader has left and come back', async () => {
    await fc.assert(
      fc.asyncProperty(anyTurn, fc.integer({ min: 1, max: 9 }), fc.nat(6), async (journal, atOnce, first) => {
        const pieces = await piecesOf(journal, undefined, atOnce);
        const whole = await read(chunksOf(pieces));
        // Every seventh place of one turn; over all of them, every place.
        for (const { seq } of journal.slice(0, -2).filter((_, i) => i % 7 === first)) {
          const before = pieces.filter((piece) => (piece.seq ?? 0) <= seq);
          const left = await read(chunksOf(before));
          const rest = await piecesOf(journal, afterSeq(seq), atOnce);
          const back = await read(chunksOf(rest), left.message);
          expect(back.errors).toEqual(whole.errors);
          expect(joined(back.message), `after ${seq}`).toEqual(joined(whole.message));
          expect(rest.at(-1)).toEqual(pieces.at(-1));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is the same message over every question, and never asks its client to go on by itself', async () => {
    await fc.assert(
      fc.asyncProperty(anyTurn, async (journal) => {
        const whole = await read(chunksOf(await piecesOf(journal)));
        let message: typeof whole.message;
        let errors: unknown[] = [];
        let asked: string[] = [];
        let answering: string[] | undefined;
        for (const [i, event] of journal.entries()) {
          if (event.type === 'approval.requested') asked.push(event.data.approval_id);
          const isLast = i === journal.length - 1;
          if (event.type !== 'turn.blocked' && !isLast) continue;
          const place = answering && afterAsking(new Set(answering));
          const part = await read(chunksOf(await piecesOf(journal.slice(0, i + 1), place)), message);
          message = part.message;
          errors = [...errors, ...part.errors];
          answering = asked;
          asked = [];
          const messages = message ? [message] : [];
          expect(lastAssistantMessageIsCompleteWithApprovalResponses({ messages })).toBe(false);
        }
        expect(errors).toEqual(whole.errors);
        expect(joined(message)).toEqual(joined(whole.message));
        if (message && message.parts.length > 0) {
          const checked = await safeValidateUIMessages({ messages: [message] });
          expect(checked.success, JSON.stringify(message)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});
