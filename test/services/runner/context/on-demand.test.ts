import { describe, expect, it } from 'vitest';
import type { ReportTurnsRequest, TurnReport } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Compaction } from '../../../../services/runner/context/compactions.ts';
import { outcomeOf } from '../runner-fixture.ts';
import { type Conversation, openConversation, SESSION } from './conversation.ts';

const COMPLETED = { $case: 'completed', value: { stopReason: 'end_turn' } };
const summarizing = { modelOptionsJson: '{"max_output_tokens":1000}', context: { keepTurns: 1 } };

/** A conversation of three turns, of which the model keeps the newest one. */
async function conversation(options: Partial<Parameters<typeof openConversation>[0]> = {}) {
  const defaults = { window: 40_000, runtime: summarizing, outputBytes: () => 1_000 };
  const chat = await openConversation({ ...defaults, ...options });
  for (const message of ['call 1', 'call 1', `The newest turn. ${'A word. '.repeat(100)}`])
    await chat.send(message);
  return chat;
}

function compactionsOf({ history }: Conversation): Compaction[] {
  const found = history.filter(({ type }) => type === 'agent.context_compacted');
  return found.map(({ json }) => (JSON.parse(json) as { data: Compaction }).data);
}

async function compact(chat: Conversation) {
  const turnId = chat.compact();
  const outcome = outcomeOf(await chat.fixture.waitForOutcome(turnId));
  chat.record(turnId);
  return outcome;
}

const lastContext = ({ fixture }: Conversation) =>
  fixture.sessions.reports
    .flatMap(({ reports }) => reports)
    .findLast((report): report is TurnReport & { context: object } => report.context !== undefined)?.context;

describe('a compaction on demand', () => {
  it('replaces the turns before the newest ones by a summary, although the history is short', async () => {
    await using chat = await conversation();
    const seqs = chat.history.map(({ seq }) => seq);
    const requests = chat.provider.requests.length;
    expect(await compact(chat)).toEqual(COMPLETED);
    expect(chat.provider.requests.slice(requests)).toMatchObject([{ isSummary: true }]);
    const summarized = chat.provider.requests.at(-1)?.text ?? '';
    expect(summarized).not.toContain('The newest turn.');
    expect(summarized).not.toContain('Sent meanwhile.');
    expect(compactionsOf(chat)).toMatchObject([
      { strategy: 'summarize', from_seq: seqs[0], to_seq: seqs.at(-3), kept: [] },
    ]);
    expect(lastContext(chat)?.history).toBeGreaterThan(0);
    expect(await compact(chat)).toEqual(COMPLETED);
    // The turn of the message that was sent meanwhile has taken the place of the newest one.
    expect(compactionsOf(chat)).toHaveLength(2);
    expect(await compact(chat)).toEqual(COMPLETED);
  });

  it('does not request a summary of turns so short that it could be longer', async () => {
    await using chat = await conversation({ outputBytes: () => 10 });
    const requests = chat.provider.requests.length;
    expect(await compact(chat)).toEqual(COMPLETED);
    expect(chat.provider.requests).toHaveLength(requests);
    expect(compactionsOf(chat)).toEqual([]);
  });

  it('only moves large results to files with drop_tool_results', async () => {
    const context = { keepTurns: 1, strategy: 'drop_tool_results' };
    await using chat = await conversation({
      runtime: { ...summarizing, context },
      outputBytes: () => 9_000,
    });
    const requests = chat.provider.requests.length;
    expect(await compact(chat)).toEqual(COMPLETED);
    expect(chat.provider.requests).toHaveLength(requests);
    const [compaction] = compactionsOf(chat);
    expect(compaction).toMatchObject({ strategy: 'drop_tool_results', kept: [] });
    expect(compaction?.moved).toHaveLength(2);
    const tree = chat.fixture.files.tree(SESSION);
    for (const { path = '' } of compaction?.moved ?? []) expect(tree[path]).toContain('lorem ipsum');
  });

  it('leaves the history as it is when the summary is empty', async () => {
    await using chat = await conversation({ summary: () => ' ' });
    expect(await compact(chat)).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'summary_empty' } },
    });
    expect(compactionsOf(chat)).toEqual([]);
  });

  it('is retried when the model that writes summaries fails', async () => {
    await using chat = await conversation({ summary: () => ({ cutAfter: 'The user' }) });
    const turnId = chat.compact();
    expect(outcomeOf(await chat.fixture.waitForOutcome(turnId))?.$case).toBe('retry');
    expect(compactionsOf(chat)).toEqual([]);
  });
});

describe('a runner that is killed during a compaction on demand', () => {
  it.each(['before', 'after'] as const)(
    '%s its report arrives, its successor compacts once',
    async (point) => {
      await using chat = await conversation();
      const { fixture } = chat;
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      fixture.sessions[point].report = ({ reports }: ReportTurnsRequest) => {
        const types = reports.flatMap(({ events }) => events.map(({ type }) => type));
        if (!types.includes('agent.context_compacted')) return;
        reached.resolve();
        return released.promise;
      };
      const turnId = chat.compact();
      await reached.promise;
      fixture.sessions.revokeLease(turnId);
      await fixture.crash();
      fixture.sessions[point].report = undefined;
      fixture.requeue(turnId);
      released.resolve();
      expect(outcomeOf(await fixture.waitForOutcome(turnId))).toEqual(COMPLETED);
      chat.record(turnId);
      expect(compactionsOf(chat)).toHaveLength(1);
    },
  );
});
