import { describe, expect, it } from 'vitest';
import type { Compaction } from '../../../../services/runner/context/compactions.ts';
import type { OutputPart } from '../../../support/providers/protocol.ts';
import type { StrictRequest } from '../../../support/providers/strict-provider.ts';
import { storedPart } from '../part-events.ts';
import { dataOf, outcomeOf } from '../runner-fixture.ts';
import { callThenAnswer, openConversation } from './conversation.ts';

const COMPLETED = { $case: 'completed', value: { stopReason: 'end_turn' } };
const LONG = 300_000;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/** Repeats the code words that the request contains when it is asked for them. */
function answer(request: StrictRequest): OutputPart[] {
  const last = request.messages.at(-1);
  if (last?.role === 'user' && last.content === 'Which code word?')
    return [{ text: [...new Set(request.text.match(/code-\w+/g) ?? [])].join(' ') }];
  return callThenAnswer(request);
}

const compactionsIn = (history: readonly { type: string; json: string }[]) =>
  history
    .filter(({ type }) => type === 'agent.context_compacted')
    .map(({ json }) => (JSON.parse(json) as { data: Compaction }).data);

/** Fewer turns where they fill the window several times, or cost more. */
describe('a long conversation with large tool results and images', () => {
  it.each([
    { window: 8_000, known: false, outputBytes: 30_000, turns: 200 },
    { window: 8_000, known: true, outputBytes: 30_000, turns: 50 },
    { window: 32_000, known: false, outputBytes: 60_000, turns: 60 },
    { window: 200_000, known: true, outputBytes: 60_000, turns: 120 },
  ])(
    'never fails with a window of $window tokens, known: $known, in $turns turns',
    async ({ window, known, outputBytes, turns }) => {
      const context = known ? { window } : {};
      const modelOptionsJson = '{"max_output_tokens":1000}';
      await using chat = await openConversation({
        ...{ window, answer, runtime: { context, modelOptionsJson } },
        outputBytes: (label) => (Number(label.slice(5)) % 3 === 0 ? outputBytes : 2_000),
      });
      const image = storedPart(chat.fixture.files, PNG);
      await chat.send('The word is code-heron.');
      for (let turn = 2; turn < turns; turn++) {
        const text = { type: 'text', text: `call ${1 + (turn % 4)}` };
        const journal = await chat.send(turn % 8 === 0 ? [text, image] : [text]);
        expect(outcomeOf(journal), `turn ${turn}`).toEqual(COMPLETED);
      }
      const last = await chat.send('Which code word?');
      expect(dataOf(last, 'agent.message').at(-1)).toMatchObject({ content: [{ text: 'code-heron' }] });
      const compactions = compactionsIn(chat.history);
      expect(compactions.some(({ strategy }) => strategy === 'summarize')).toBe(true);
      // A refusal teaches the window and the tokens of an estimated token.
      expect(chat.provider.refusals).toBeLessThan(10);
      for (const { tokens_before, tokens_after } of compactions)
        expect(tokens_after).toBeLessThan(tokens_before);
    },
    LONG,
  );
});
