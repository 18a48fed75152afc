import { describe, expect, it } from 'vitest';
import type { Compaction } from '../../../../services/runner/context/compactions.ts';
import type { OutputPart } from '../../../support/providers/protocol.ts';
import type { StrictRequest } from '../../../support/providers/strict-provider.ts';
import { dataOf, outcomeOf } from '../runner-fixture.ts';
import { callThenAnswer, openConversation } from './conversation.ts';

const COMPLETED = { $case: 'completed', value: { stopReason: 'end_turn' } };
const LONG = 300_000;

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

describe('a conversation of 200 turns with large tool results', () => {
  it.each([
    { window: 8_000, known: false, outputBytes: 30_000 },
    { window: 200_000, known: true, outputBytes: 60_000 },
  ])(
    'never fails with a window of $window tokens, known: $known',
    async ({ window, known, outputBytes }) => {
      const context = known ? { window } : {};
      const modelOptionsJson = '{"max_output_tokens":1000}';
      await using chat = await openConversation({
        ...{ window, answer, runtime: { context, modelOptionsJson } },
        outputBytes: (label) => (Number(label.slice(5)) % 3 === 0 ? outputBytes : 2_000),
      });
      await chat.send('The word is code-heron.');
      for (let turn = 2; turn < 200; turn++) {
        const journal = await chat.send(`call ${1 + (turn % 4)}`);
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
