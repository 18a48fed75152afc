import type { UIMessage, UIMessageChunk } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UiChunk } from '../../../edge/ai-stream/chunks.ts';
import { MessageBuilder } from '../../../edge/ai-stream/message-builder.ts';
import type { SdkVersion } from '../../../edge/ai-stream/schemas.ts';
import { anyTurn, journalOf, turnEvent } from './journal-events.ts';
import { chunksOf, read, renderAll } from './read-stream.ts';
import { SDKS } from './sdk-versions.ts';

type Drafts = Parameters<typeof journalOf>[0];

const render = async (events: ReturnType<typeof journalOf>, version: SdkVersion) =>
  chunksOf(await renderAll(events, undefined, 3, version));
const json = (value: unknown) => JSON.parse(JSON.stringify(value));

async function invalidChunks(chunks: readonly UIMessageChunk[], version: SdkVersion): Promise<unknown[]> {
  const schema = SDKS[version].uiMessageChunkSchema();
  const results = await Promise.all(
    chunks.map(async (chunk) => ({ chunk, result: await schema.validate?.(chunk) })),
  );
  return results.filter(({ result }) => !result?.success).map(({ chunk }) => chunk);
}

const textsOf = (message: UIMessage | undefined) =>
  (message?.parts ?? []).flatMap((part) =>
    part.type === 'text' || part.type === 'reasoning' ? [`${part.type} ${part.text}`] : [],
  );
const toolsOf = (message: UIMessage | undefined) =>
  json(message?.parts.filter(({ type }) => type === 'dynamic-tool') ?? []).map(
    ({ approval: _, ...part }: object & { approval?: unknown }) => part,
  );

describe.each(['6', '7'] as const)('the stream of a turn for AI SDK %s', (version) => {
  it('has only chunks that this version accepts, and no errors except that of a failed turn', () =>
    fc.assert(
      fc.asyncProperty(anyTurn, async (events) => {
        const chunks = await render(events, version);
        expect(await invalidChunks(chunks, version)).toEqual([]);
        const { errors } = await read(chunks, undefined, version);
        expect(errors).toHaveLength(events.some(({ type }) => type === 'turn.failed') ? 1 : 0);
      }),
      { numRuns: 150 },
    ));
});

describe('the stream of a turn for AI SDK 6', () => {
  const readAs = async (drafts: Drafts, version: SdkVersion) =>
    (await read(await render(journalOf(drafts), version), undefined, version)).message;

  it('has the texts and tool calls of the stream for AI SDK 7 in the same order', () =>
    fc.assert(
      fc.asyncProperty(anyTurn, async (events) => {
        const old = (await read(await render(events, '6'), undefined, '6')).message;
        const { message } = await read(await render(events, '7'));
        expect(toolsOf(old)).toEqual(toolsOf(message));
        const texts = textsOf(old);
        for (const text of textsOf(message)) {
          const index = texts.indexOf(text);
          expect(index, `${text} is in ${JSON.stringify(texts)}`).toBeGreaterThanOrEqual(0);
          texts.splice(0, index + 1);
        }
      }),
      { numRuns: 150 },
    ));

  it('shows a text once if the attempt after a discarded one begins with the same text', async () => {
    const drafts = [
      turnEvent.started(),
      turnEvent.thinking('m1', 'Hm.'),
      turnEvent.delta('m1', 'Once upon'),
      turnEvent.discarded('m1'),
      turnEvent.retrying(),
      turnEvent.thinking('m2', 'Hm.'),
      turnEvent.delta('m2', 'Once '),
      turnEvent.delta('m2', 'upon a time'),
      turnEvent.message('m2', [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Once upon a time.' },
      ]),
      turnEvent.completed(),
    ];
    // The part of the discarded attempt stays.
    const expected = (await readAs(drafts, '7'))?.parts.map((part) =>
      part.type === 'reasoning' ? { ...part, id: 'm1:0' } : part,
    );
    expect(json((await readAs(drafts, '6'))?.parts)).toEqual(json(expected));
  });

  it('shows another text behind the discarded one', async () => {
    const drafts = [
      turnEvent.started(),
      turnEvent.delta('m1', 'Once upon'),
      turnEvent.discarded('m1'),
      turnEvent.message('m2', [{ type: 'text', text: 'Hello.' }]),
      turnEvent.completed(),
    ];
    expect(json((await readAs(drafts, '6'))?.parts)).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'Once upon', state: 'done' },
      { type: 'text', text: 'Hello.', state: 'done' },
    ]);
  });

  it('ends an approval request that another client has answered', async () => {
    const drafts = [
      turnEvent.started(),
      turnEvent.message('m', []),
      turnEvent.used('call_1'),
      turnEvent.approvalRequested('apr_1', 'call_1'),
      turnEvent.blocked(),
      turnEvent.decided('apr_1', 'allow'),
    ];
    expect((await readAs(drafts, '6'))?.parts.at(-1)).toMatchObject({ state: 'input-available' });
    expect((await readAs(drafts, '7'))?.parts.at(-1)).toMatchObject({ state: 'approval-responded' });
  });
});

describe('MessageBuilder', () => {
  it('builds the message that AI SDK reads from the stream', () =>
    fc.assert(
      fc.asyncProperty(anyTurn, async (events) => {
        const chunks = await render(events, '7');
        const { message } = await read(chunks);
        const builder = new MessageBuilder();
        for (const chunk of chunks as UiChunk[]) builder.add(chunk);
        expect(json(builder.parts)).toEqual(json(message?.parts ?? []));
      }),
      { numRuns: 300 },
    ));
});
