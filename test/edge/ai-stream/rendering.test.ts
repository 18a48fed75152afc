import { lastAssistantMessageIsCompleteWithApprovalResponses, safeValidateUIMessages } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterEvent, afterRequests } from '../../../edge/ai-stream/render.ts';
import { anyTurn, journalOf, TURN, turnEvent } from './journal-events.ts';
import { chunksOf, joined, PARTS_URL, read, renderAll } from './read-stream.ts';

const TEXT = [{ type: 'text' as const, text: 'Hello there' }];
const rendered = async (drafts: Parameters<typeof journalOf>[0]) =>
  chunksOf(await renderAll(journalOf(drafts)));
const readAll = async (drafts: Parameters<typeof journalOf>[0]) => read(await rendered(drafts));
const types = (chunks: { type: string }[]) => chunks.map(({ type }) => type);

describe('TurnRenderer', () => {
  it('renders a message with the id of the turn, one step, its text and an end', async () => {
    const chunks = await rendered([
      turnEvent.started(),
      turnEvent.delta('m', 'Hel'),
      turnEvent.delta('m', 'lo'),
      turnEvent.message('m', TEXT),
      turnEvent.completed(),
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

  it('puts the seq of an event on its last chunk', async () => {
    const pieces = await renderAll(
      journalOf([turnEvent.started(), turnEvent.message('m', TEXT), turnEvent.completed()]),
    );
    const shown = pieces.filter(({ chunks }) => chunks.length > 0);
    expect(shown.map(({ chunks, seq }) => [seq, types([...chunks])])).toEqual([
      [undefined, ['start']],
      [2, ['start-step', 'text-start', 'text-delta', 'text-end']],
      [3, ['finish-step', 'finish']],
    ]);
  });

  it('renders each thought once, from its own event or from the final message', async () => {
    const content = [{ type: 'reasoning' as const, text: 'Hm.' }, ...TEXT];
    const parts = [
      { type: 'step-start' },
      { type: 'reasoning', id: 'm:0', text: 'Hm.', state: 'done' },
      { type: 'text', text: 'Hello there', state: 'done' },
    ];
    for (const drafts of [
      [turnEvent.thinking('m', 'Hm.'), turnEvent.delta('m', 'He'), turnEvent.message('m', content)],
      [turnEvent.message('m', content)],
    ])
      expect(joined((await readAll(drafts)).message)).toEqual(parts);
  });

  it('shows an authorization of the turn itself as data, until it is decided, also to a client that reconnects', async () => {
    const details = {
      model_provider: 'openai',
      name: 'openai',
      reason: 'unavailable',
      who: 'administrator',
    } as const;
    const drafts = [
      turnEvent.started(),
      turnEvent.authorizationRequested('apr_1', details),
      turnEvent.blocked(),
    ];
    const shown = {
      ...{ type: 'data-approval', id: 'apr_1' },
      data: { approval_id: 'apr_1', kind: 'authorization', details },
    };
    expect(await rendered(drafts)).toEqual([
      { type: 'start', messageId: TURN },
      shown,
      { type: 'finish', finishReason: 'tool-calls' },
    ]);
    const again = chunksOf(await renderAll(journalOf(drafts), afterEvent(3)));
    expect(again).toContainEqual(shown);
    const denied = [...drafts, turnEvent.decided('apr_1', 'deny'), turnEvent.failed('No key.')];
    const rest = chunksOf(await renderAll(journalOf(denied), afterEvent(4)));
    expect(types(rest)).toEqual(['start', 'error', 'finish']);
  });

  it('renders images and files as URLs, also those of older releases', async () => {
    const stored = { type: 'image' as const, media_type: 'image/png', sha256: 'a'.repeat(64), size: 1 };
    const { message } = await readAll([
      turnEvent.message('m', [
        ...TEXT,
        stored,
        { ...stored, type: 'file', media_type: 'text/csv', sha256: 'b'.repeat(64), name: 'b.csv' },
        { type: 'file', data: 'QQ==', mediaType: 'audio/wav' },
        { type: 'file', data: 'https://example.com/c.png', mediaType: 'image/png' },
      ]),
      turnEvent.completed(),
    ]);
    expect(joined(message).slice(2)).toEqual([
      { type: 'file', mediaType: 'image/png', url: `${PARTS_URL}/${'a'.repeat(64)}` },
      { type: 'file', mediaType: 'text/csv', url: `${PARTS_URL}/${'b'.repeat(64)}` },
      { type: 'file', mediaType: 'audio/wav', url: 'data:audio/wav;base64,QQ==' },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/c.png' },
    ]);
  });

  it('renders a tool output with stored images as parts of AI SDK, and any other output unchanged', async () => {
    const image = { type: 'image', media_type: 'image/png', name: 'a.png', sha256: 'a'.repeat(64), size: 1 };
    const text = { type: 'text', text: 'Look' };
    const file = {
      ...{ type: 'file', mediaType: 'image/png', filename: 'a.png' },
      url: `${PARTS_URL}/${'a'.repeat(64)}`,
    };
    for (const [output, shown] of [
      [
        [text, image],
        [text, file],
      ],
      [[text], [text]],
      [
        [image, { other: true }],
        [image, { other: true }],
      ],
      [{ image }, { image }],
      [[{ ...image, sha256: 'a' }], [{ ...image, sha256: 'a' }]],
    ]) {
      const { message } = await readAll([
        turnEvent.message('a', TEXT),
        turnEvent.used('c'),
        turnEvent.result('c', output),
        turnEvent.completed(),
      ]);
      expect(joined(message).at(-1)).toMatchObject({ output: shown });
    }
  });

  it('resets exactly the discarded attempt', async () => {
    const { message } = await readAll([
      turnEvent.message('a', [{ type: 'text', text: 'kept' }]),
      turnEvent.used('c'),
      turnEvent.result('c', 1),
      turnEvent.thinking('b', 'lost'),
      turnEvent.delta('b', 'lost'),
      turnEvent.discarded('b'),
      turnEvent.retrying(),
      turnEvent.message('d', TEXT),
      turnEvent.completed(),
    ]);
    expect(joined(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'kept' },
      { type: 'dynamic-tool', toolCallId: 'c', state: 'output-available', output: 1 },
      { type: 'step-start' },
      { type: 'text', text: 'Hello there', state: 'done' },
    ]);
  });

  it('renders a tool call, a preview of its output, and its result or error', async () => {
    const openTurn = [
      turnEvent.message('m', [], 'tool-calls'),
      turnEvent.used('a', { x: 1 }),
      turnEvent.used('b'),
      turnEvent.dispatched('a'),
    ];
    const early = await readAll([
      ...openTurn,
      turnEvent.progress('a', 'one '),
      turnEvent.progress('a', 'two'),
    ]);
    expect(joined(early.message)).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', toolName: 'calculator', input: { x: 1 }, output: 'one two', preliminary: true },
      { type: 'dynamic-tool', state: 'input-available' },
    ]);
    const late = await readAll([
      ...openTurn,
      turnEvent.result('a', { y: 2 }),
      turnEvent.result('b', { why: 'no' }, true),
    ]);
    expect(joined(late.message)).toMatchObject([
      { type: 'step-start' },
      { state: 'output-available', output: { y: 2 } },
      { state: 'output-error', errorText: '{"why":"no"}' },
    ]);
  });

  it('pauses at an approval request and renders the decision and the result in the same parts', async () => {
    const asking = [
      turnEvent.message('m', [], 'tool-calls'),
      turnEvent.used('a'),
      turnEvent.used('b'),
      turnEvent.approvalRequested('apr_a', 'a'),
      turnEvent.approvalRequested('apr_b', 'b'),
      turnEvent.blocked(),
    ];
    const chunks = await rendered(asking);
    expect(types(chunks).slice(-3)).toEqual(['tool-approval-request', 'finish-step', 'finish']);
    const { message } = await read(chunks);
    expect(joined(message)).toMatchObject([
      { type: 'step-start' },
      { state: 'approval-requested', approval: { id: 'apr_a' } },
      { state: 'approval-requested', approval: { id: 'apr_b' } },
    ]);
    const half = journalOf([...asking, turnEvent.decided('apr_a', 'deny', 'too dear')]);
    const answered = chunksOf(await renderAll(half, afterRequests(new Set(['apr_a']))));
    expect(types(answered)).toEqual([
      'start',
      'tool-approval-response',
      'tool-output-denied',
      'finish-step',
      'finish',
    ]);
    const all = journalOf([
      ...asking,
      turnEvent.decided('apr_a', 'deny', 'too dear'),
      turnEvent.decided('apr_b', 'allow'),
      turnEvent.started(),
      turnEvent.result('a', 'denied: too dear', true),
      turnEvent.result('b', 3, false, { z: 3 }),
      turnEvent.message('n', TEXT),
      turnEvent.completed(),
    ]);
    const rest = chunksOf(await renderAll(all, afterRequests(new Set(['apr_a', 'apr_b']))));
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

  it('repeats pending approval requests for a client that reconnects', async () => {
    const journal = journalOf([
      turnEvent.message('m', [], 'tool-calls'),
      turnEvent.used('a'),
      turnEvent.approvalRequested('apr_a', 'a', 'outcome_unknown'),
      turnEvent.blocked(),
    ]);
    const chunks = chunksOf(await renderAll(journal, afterEvent(4)));
    expect(chunks).toMatchObject([
      { type: 'start', messageId: TURN },
      { type: 'tool-input-available', toolCallId: 'a', dynamic: true },
      { type: 'tool-approval-request', approvalId: 'apr_a', reason: 'outcome_unknown' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'tool-calls' },
    ]);
  });

  it('ends with an error for a failed turn and with an abort for a stopped turn', async () => {
    const openTurn = [turnEvent.delta('m', 'Hel'), turnEvent.discarded('m')];
    expect((await rendered([...openTurn, turnEvent.failed('It broke.')])).slice(-3)).toEqual([
      { type: 'finish-step' },
      { type: 'error', errorText: 'It broke.' },
      { type: 'finish', finishReason: 'error' },
    ]);
    for (const [end, reason] of [
      [turnEvent.interrupted(), 'interrupted'],
      [turnEvent.cancelled('deleted'), 'deleted'],
      [turnEvent.deleted(), 'session_deleted'],
    ] as const)
      expect((await rendered([...openTurn, end])).at(-1)).toEqual({ type: 'abort', reason });
  });

  it('renders a retry as a notice that is not a part of the message', async () => {
    const chunks = await rendered([
      turnEvent.retrying(),
      turnEvent.message('m', TEXT),
      turnEvent.completed(),
    ]);
    expect(chunks[1]).toEqual({
      type: 'data-retry',
      transient: true,
      data: { code: 'overloaded', message: 'Busy.' },
    });
    expect(joined((await read(chunks)).message)).toHaveLength(2);
  });

  it('renders only new text for a client that reconnects in the middle of a text', async () => {
    const journal = journalOf([
      turnEvent.delta('m', 'Hel'),
      turnEvent.delta('m', 'lo'),
      turnEvent.message('m', TEXT),
      turnEvent.completed(),
    ]);
    expect(chunksOf(await renderAll(journal, afterEvent(1))).slice(0, 3)).toEqual([
      { type: 'start', messageId: TURN },
      { type: 'text-start', id: 'm:0' },
      { type: 'text-delta', id: 'm:0', delta: 'lo' },
    ]);
    expect(await renderAll(journal, afterEvent(4))).toEqual([]);
  });

  it('renders the same message for any point of reconnection', async () => {
    await fc.assert(
      fc.asyncProperty(anyTurn, fc.integer({ min: 1, max: 9 }), fc.nat(6), async (journal, atOnce, first) => {
        const pieces = await renderAll(journal, undefined, atOnce);
        const complete = await read(chunksOf(pieces));
        // Every seventh position per turn; over all turns, every position is tested.
        for (const { seq } of journal.slice(0, -2).filter((_, i) => i % 7 === first)) {
          const before = pieces.filter((piece) => (piece.seq ?? 0) <= seq);
          const left = await read(chunksOf(before));
          const rest = await renderAll(journal, afterEvent(seq), atOnce);
          const back = await read(chunksOf(rest), left.message);
          expect(back.errors).toEqual(complete.errors);
          expect(joined(back.message), `after ${seq}`).toEqual(joined(complete.message));
          expect(rest.at(-1)).toEqual(pieces.at(-1));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('renders the same message across approvals and never triggers an automatic resubmission', async () => {
    await fc.assert(
      fc.asyncProperty(anyTurn, async (journal) => {
        const complete = await read(chunksOf(await renderAll(journal)));
        let message: typeof complete.message;
        let errors: unknown[] = [];
        let pending: string[] = [];
        let answering: string[] | undefined;
        for (const [i, event] of journal.entries()) {
          if (event.type === 'approval.requested') pending.push(event.data.approval_id);
          const isLast = i === journal.length - 1;
          if (event.type !== 'turn.blocked' && !isLast) continue;
          const place = answering && afterRequests(new Set(answering));
          const part = await read(chunksOf(await renderAll(journal.slice(0, i + 1), place)), message);
          message = part.message;
          errors = [...errors, ...part.errors];
          answering = pending;
          pending = [];
          const messages = message ? [message] : [];
          expect(lastAssistantMessageIsCompleteWithApprovalResponses({ messages })).toBe(false);
        }
        expect(errors).toEqual(complete.errors);
        expect(joined(message)).toEqual(joined(complete.message));
        if (message && message.parts.length > 0) {
          const checked = await safeValidateUIMessages({ messages: [message] });
          expect(checked.success, JSON.stringify(message)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});
