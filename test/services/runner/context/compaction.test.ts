import { describe, expect, it } from 'vitest';
import { refuse } from '../../../../lib/errors.ts';
import type { ReportTurnsRequest } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Compaction } from '../../../../services/runner/context/compactions.ts';
import { compatible } from '../../../support/providers/compatible.ts';
import { outcomeOf } from '../runner-fixture.ts';
import {
  type Conversation,
  type callThenAnswer,
  openConversation,
  outputOf,
  SESSION,
} from './conversation.ts';

const COMPLETED = { $case: 'completed', value: { stopReason: 'end_turn' } };
const modelOptionsJson = '{"max_output_tokens":1000}';
const context = { window: 8_000 };
const runtime = { context, modelOptionsJson };

const exceeded = (journal: Parameters<typeof outcomeOf>[0]) => {
  const outcome = outcomeOf(journal);
  if (outcome?.$case !== 'failed') throw new Error(`The turn has not failed: ${outcome?.$case}`);
  return outcome.value.error;
};

function compactionsOf({ history }: Conversation): Compaction[] {
  const found = history.filter(({ type }) => type === 'agent.context_compacted');
  return found.map(({ json }) => (JSON.parse(json) as { data: Compaction }).data);
}

/** Sends messages until the history was compacted. */
async function compactByTurns(chat: Conversation, message = 'call 2'): Promise<Compaction> {
  for (let turn = 0; turn < 60 && compactionsOf(chat).length === 0; turn++)
    expect(outcomeOf(await chat.send(message))).toEqual(COMPLETED);
  const [first] = compactionsOf(chat);
  if (!first) throw new Error('The history was not compacted.');
  return first;
}

describe('a history that exceeds the threshold', () => {
  it('loses large results to files in the workspace first', async () => {
    await using chat = await openConversation({
      window: 40_000,
      runtime: { modelOptionsJson, context: { window: 40_000, keepTurns: 1 } },
      outputBytes: () => 12_000,
    });
    const compaction = await compactByTurns(chat);
    expect(compaction).toMatchObject({ strategy: 'drop_tool_results', kept: [] });
    const [moved] = compaction.moved ?? [];
    const output = chat.history.find(({ seq }) => seq === moved?.seq);
    const label = /call_\d+/.exec(output?.json ?? '')?.[0] ?? '';
    const tree = chat.fixture.files.tree(SESSION);
    expect(tree[moved?.path ?? '']).toBe(outputOf(label, 12_000));
    const last = chat.provider.requests.at(-1)?.text;
    expect(last).toContain(`${moved?.path}; read the parts`);
  });

  it('becomes a summary from a request of its own, which counts in usage and budget', async () => {
    await using chat = await openConversation({ window: 8_000, runtime, outputBytes: () => 1_000 });
    const compaction = await compactByTurns(chat);
    const summaries = chat.provider.requests.filter(({ isSummary }) => isSummary);
    expect(summaries.length).toBeGreaterThan(0);
    const input = summaries.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(compaction).toMatchObject({
      strategy: 'summarize',
      summary: expect.stringContaining('The user asks questions.'),
      usage: { input_tokens: input, output_tokens: 20 * summaries.length },
      model: chat.provider.requests.length > 0 ? expect.stringContaining('local-1/') : '',
    });
    expect(compaction.tokens_after).toBeLessThan(compaction.tokens_before);
    expect(chat.provider.requests.at(-1)?.text).toContain('Their summary:');
    expect(chat.provider.refusals).toBe(0);
  });

  it('keeps the last turns and pinned messages as they are', async () => {
    const more = { ...context, keepTurns: 2 };
    await using chat = await openConversation({
      window: 8_000,
      runtime: { ...runtime, context: more },
      outputBytes: () => 500,
    });
    await chat.send('The pinned rule.', { pinned: true });
    await compactByTurns(chat, 'call 1');
    const before = chat.history.filter(({ type }) => type === 'user.message').slice(-2);
    const { to_seq: to } = compactionsOf(chat)[0] ?? { to_seq: 0 };
    for (const { seq } of before) expect(seq).toBeGreaterThan(to);
    expect(chat.provider.requests.at(-1)?.text).toContain('The pinned rule.');
  });

  it.each([
    ['fails', undefined, 'summary_failed'],
    ['is empty', ' ', 'summary_empty'],
  ])('loses its oldest messages when the summary %s, and the event says so', async (_, summary, fallback) => {
    await using chat = await openConversation({
      window: 8_000,
      runtime,
      outputBytes: () => 1_000,
      summary: () => summary,
    });
    expect(await compactByTurns(chat)).toMatchObject({ strategy: 'drop_turns', fallback });
    expect(chat.provider.requests.at(-1)?.text).toContain('are left out because of their length.]');
  });

  it('counts a summary that was cut with an estimate', async () => {
    await using chat = await openConversation({
      window: 8_000,
      runtime,
      outputBytes: () => 1_000,
      summary: () => ({ cutAfter: 'The user asks' }),
    });
    const compaction = await compactByTurns(chat);
    expect(compaction).toMatchObject({ fallback: 'summary_failed', usage: { estimated: true } });
    expect(compaction.usage?.input_tokens).toBeGreaterThan(100);
    expect(compaction.usage?.output_tokens).toBe(Math.ceil('The user asks'.length / 3.5));
  });

  it('counts the summary when the files of the compaction that replaces it cannot be written now', async () => {
    await using chat = await openConversation({
      window: 40_000,
      runtime: { modelOptionsJson, context: { window: 40_000 } },
      outputBytes: (label) => (Number(label.slice(5)) % 5 === 0 ? 9_000 : 7_000),
      summary: () => ({ cutAfter: 'The user asks' }),
    });
    const hasSummary = () => chat.provider.requests.some(({ isSummary }) => isSummary);
    chat.fixture.files.before.changeWorkspace = () => {
      if (hasSummary()) throw refuse('DEPENDENCY_UNAVAILABLE', 'The workspace is unavailable.');
    };
    let journal = await chat.send('call 5');
    for (let turn = 0; turn < 60 && !hasSummary(); turn++) journal = await chat.send('call 5');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'dependency_unavailable' } },
    });
    expect(journal.usage.estimated).toBe(true);
  });

  it('changes the beginning of the requests once, and then it repeats again', async () => {
    await using chat = await openConversation({ window: 8_000, runtime, outputBytes: () => 1_000 });
    const changes: number[] = [];
    let before: string[] = [];
    for (let turn = 0; turn < 40; turn++) {
      const seen = chat.provider.requests.length;
      expect(outcomeOf(await chat.send('call 2'))).toEqual(COMPLETED);
      for (const { messages, isSummary } of chat.provider.requests.slice(seen)) {
        if (isSummary) continue;
        const next = messages.map((message) => JSON.stringify(message));
        if (before.some((message, index) => message !== next[index])) changes.push(turn);
        before = next;
      }
    }
    expect(changes.length).toBeGreaterThan(2);
    expect(changes).toHaveLength(compactionsOf(chat).length);
  });

  it('has the part of an earlier summary that fits when the window is smaller and the next summary fails', async () => {
    let isDown = false;
    await using chat = await openConversation({
      window: 40_000,
      runtime: { modelOptionsJson, context: { window: 40_000 } },
      outputBytes: () => 7_000,
      summary: () => (isDown ? undefined : 'A long summary. '.repeat(2_000)),
    });
    await compactByTurns(chat);
    isDown = true;
    const agentVersion = chat.fixture.agents.add({
      ...{ model: compatible.model, system: 'You count.', modelOptionsJson, context: { window: 5_500 } },
    });
    const journal = await chat.send('Hello.', {}, agentVersion);
    expect(outcomeOf(journal)).toEqual(COMPLETED);
    const last = compactionsOf(chat).at(-1);
    expect(last).toMatchObject({ fallback: 'summary_failed', summary: expect.stringMatching(/^A long/) });
  });

  it.each([
    ['full', 'QUOTA_EXCEEDED'],
    ['read-only', 'SESSION_ARCHIVED'],
  ] as const)('is summarized without files when the workspace is %s', async (_, code) => {
    await using chat = await openConversation({
      window: 40_000,
      runtime: { modelOptionsJson, context: { window: 40_000 } },
      outputBytes: () => 12_000,
    });
    chat.fixture.files.before.changeWorkspace = () => {
      throw refuse(code, 'The workspace takes no files.');
    };
    const compaction = await compactByTurns(chat);
    expect(compaction).toMatchObject({ strategy: 'summarize' });
    expect(compaction.moved).toBeUndefined();
  });

  it('loses its oldest messages with drop_tool_results when its results are small', async () => {
    const more = { ...context, strategy: 'drop_tool_results' };
    await using chat = await openConversation({
      window: 8_000,
      runtime: { ...runtime, context: more },
      outputBytes: () => 1_000,
    });
    const compaction = await compactByTurns(chat);
    expect(compaction).toMatchObject({ strategy: 'drop_turns', fallback: 'results_too_small' });
    expect(chat.provider.requests.some(({ isSummary }) => isSummary)).toBe(false);
  });

  it('fails with model_context_exceeded with the strategy none', async () => {
    const more = { ...context, strategy: 'none' };
    await using chat = await openConversation({
      window: 8_000,
      runtime: { ...runtime, context: more },
      outputBytes: () => 1_000,
    });
    let journal = await chat.send('call 3');
    for (let turn = 0; turn < 40 && outcomeOf(journal)?.$case === 'completed'; turn++)
      journal = await chat.send('call 3');
    expect(exceeded(journal)).toMatchObject({ code: 'model_context_exceeded' });
    expect(compactionsOf(chat)).toEqual([]);
  });

  it('shrinks within a turn of many steps', async () => {
    let steps = 0;
    const answer: typeof callThenAnswer = () => {
      steps++;
      const input = JSON.stringify({ label: `step_${steps}` });
      return steps > 40 ? [{ text: 'Done.' }] : [{ call: `call_s${steps}`, name: 'count', input }];
    };
    const settings = { window: 8_000, runtime: { ...runtime, maxSteps: 60 }, answer };
    await using chat = await openConversation({ ...settings, outputBytes: () => 2_500 });
    expect(outcomeOf(await chat.send('Work for long.'))).toEqual(COMPLETED);
    expect(compactionsOf(chat).length).toBeGreaterThan(1);
    for (const { text, isSummary } of chat.provider.requests)
      if (!isSummary) expect(text).toContain('Work for long.');
  });

  it('cuts a result that is longer than the window to an excerpt', async () => {
    await using chat = await openConversation({ window: 8_000, runtime, outputBytes: () => 200_000 });
    expect(outcomeOf(await chat.send('call 3'))).toEqual(COMPLETED);
    expect(compactionsOf(chat)[0]?.moved).toHaveLength(3);
  });
});

describe('a request that cannot be made short enough', () => {
  it.each([
    ['a message', 'word '.repeat(8_000), ''],
    ['a system prompt', 'Hello.', 'word '.repeat(8_000)],
  ])('fails at once with the sizes: %s', async (_, text, system) => {
    await using chat = await openConversation({ window: 8_000, runtime: { ...runtime, system } });
    const error = exceeded(await chat.send(text));
    expect(error?.code).toBe('model_context_exceeded');
    expect(error?.message).toMatch(/about \d+ tokens, and the model accepts about \d+\.$/);
    expect(chat.provider.requests).toEqual([]);
  });

  it('fails at once with the sizes: a list of tools', async () => {
    const about = 'Counts one more. '.repeat(2_000);
    await using chat = await openConversation({ window: 8_000, runtime, about });
    const error = exceeded(await chat.send('Hello.'));
    expect(error?.code).toBe('model_context_exceeded');
    expect(error?.message).toMatch(
      /^The system prompt and the tools of the agent have about \d+ tokens, and the model accepts about \d+\.$/,
    );
    expect(chat.provider.requests).toEqual([]);
  });
});

describe('a refusal because of the length', () => {
  const small = { modelOptionsJson };

  it('compacts and repeats the request, and later turns know the window', async () => {
    await using chat = await openConversation({ window: 8_000, runtime: small, outputBytes: () => 3_000 });
    await compactByTurns(chat);
    expect(chat.provider.refusals).toBe(1);
    for (let turn = 0; turn < 10; turn++) expect(outcomeOf(await chat.send('call 2'))).toEqual(COMPLETED);
    expect(chat.provider.refusals).toBeLessThanOrEqual(2);
  });

  it('teaches the window to other runners', async () => {
    await using chat = await openConversation({ window: 8_000, runtime: small, outputBytes: () => 3_000 });
    await compactByTurns(chat);
    expect([...chat.fixture.agents.modelWindows.values()]).toEqual([8_000]);
    await chat.fixture.crash();
    for (let turn = 0; turn < 10; turn++) expect(outcomeOf(await chat.send('call 2'))).toEqual(COMPLETED);
    // The new runner does not know yet how the provider counts.
    expect(chat.provider.refusals).toBeLessThanOrEqual(2);
  });

  it('teaches a smaller window to runners whose agent has a larger one', async () => {
    const runtime = { modelOptionsJson, context: { window: 40_000 } };
    await using chat = await openConversation({ window: 8_000, runtime, outputBytes: () => 3_000 });
    chat.fixture.agents.modelWindows.set(compatible.model, 8_000);
    for (let turn = 0; turn < 20; turn++) expect(outcomeOf(await chat.send('call 2'))).toEqual(COMPLETED);
    expect(compactionsOf(chat).length).toBeGreaterThan(0);
    // The estimate of a new runner can be too low once.
    expect(chat.provider.refusals).toBeLessThanOrEqual(1);
  });

  it('compacts also when the provider does not tell the window', async () => {
    const refusal = () => 'Your input exceeds the context window of this model.';
    await using chat = await openConversation({
      window: 8_000,
      runtime: small,
      outputBytes: () => 3_000,
      refusal,
    });
    await compactByTurns(chat);
    for (let turn = 0; turn < 10; turn++) expect(outcomeOf(await chat.send('call 2'))).toEqual(COMPLETED);
  });

  it('fails the turn with model_context_exceeded with the strategy none', async () => {
    const none = { ...small, context: { strategy: 'none' } };
    await using chat = await openConversation({ window: 8_000, runtime: none });
    expect(exceeded(await chat.send('word '.repeat(8_000)))).toMatchObject({
      code: 'model_context_exceeded',
    });
    expect(chat.provider.requests).toHaveLength(1);
  });

  it('fails the turn after at most one repetition', async () => {
    await using chat = await openConversation({ window: 10, runtime: small });
    expect(exceeded(await chat.send('word '.repeat(300)))).toMatchObject({ code: 'model_context_exceeded' });
    expect(chat.provider.refusals).toBeGreaterThan(0);
    expect(chat.provider.refusals).toBeLessThanOrEqual(2);
  });
});

describe('a runner that is killed during a compaction', () => {
  it.each(['changeWorkspace', 'writeContents', 'before the report', 'after the report'] as const)(
    'at %s, its successor compacts once',
    async (point) => {
      const large = { modelOptionsJson, context: { window: 40_000, keepTurns: 1 } };
      await using chat = await openConversation({
        ...{ window: 40_000, runtime: large },
        outputBytes: () => 12_000,
      });
      const { fixture } = chat;
      const reached = Promise.withResolvers<'reached'>();
      const released = Promise.withResolvers<void>();
      let isReached = false;
      /** The first request that arrives here is never answered. */
      const stall = () => {
        if (isReached) return;
        isReached = true;
        reached.resolve('reached');
        return released.promise;
      };
      const stallReport = ({ reports }: ReportTurnsRequest) => {
        const types = reports.flatMap(({ events }) => events.map(({ type }) => type));
        return types.includes('agent.context_compacted') ? stall() : undefined;
      };
      if (point === 'before the report') fixture.sessions.before.report = stallReport;
      else if (point === 'after the report') fixture.sessions.after.report = stallReport;
      else fixture.files.before[point] = stall;
      let turnId = '';
      for (let turn = 0; turn < 60 && !isReached; turn++) {
        turnId = chat.queue('call 2');
        const end = await Promise.race([fixture.waitForOutcome(turnId), reached.promise]);
        if (end !== 'reached') chat.record(turnId);
      }
      fixture.sessions.revokeLease(turnId);
      await fixture.crash();
      fixture.requeue(turnId);
      released.resolve();
      expect(outcomeOf(await fixture.waitForOutcome(turnId))).toEqual(COMPLETED);
      chat.record(turnId);
      // The successor does not know yet how the provider counts, and may need it later.
      expect((await compactByTurns(chat)).moved?.length).toBeGreaterThan(0);
      expect(compactionsOf(chat)).toHaveLength(1);
    },
  );
});
