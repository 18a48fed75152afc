import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPACTION_POINTS } from '../chaos/long/compaction-points.ts';
import { answerOf, CODE_WORD, FIRST_MESSAGE, LAST_MESSAGE, readLogs } from '../chaos/long/conversation.ts';
import { type LongSystem, openLongSystem, type RunningRunner } from '../chaos/long/system.ts';
import { createDatabase } from '../support/database.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { compatible } from '../support/providers/compatible.ts';

const WINDOW = 40_000;
const MESSAGE = readLogs(5, 7_000);
/** Larger than a result that becomes a file. */
const LARGE = readLogs(5, 9_000);
const SUMMARY_POINTS = ['when the summary is requested', 'when the summary has been written'] as const;
const POINTS = [...COMPACTION_POINTS, ...SUMMARY_POINTS];

describe('kill -9 of the runner during a compaction that moves files and writes a summary', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let system: LongSystem;
  /** Called when the provider gets a request for a summary, and when it answers it. */
  let atSummary = { requested: () => {}, written: () => {} };
  beforeAll(async () => {
    database = await createDatabase();
    system = await openLongSystem({
      databaseUrl: database.url,
      leaseSeconds: 1,
      provider: {
        ...{ window: WINDOW, answer: answerOf, retained: 1 },
        arrived: ({ isSummary }) => isSummary && atSummary.requested(),
        summary({ text }) {
          setImmediate(atSummary.written);
          return `The code word is ${text.match(/code-\w+/)?.[0]}.`;
        },
      },
    });
    const settings = { modelOptionsJson: '{"max_output_tokens":1000}', context: { window: WINDOW } };
    system.addAgent({ model: compatible.model, system: 'You read logs.', maxSteps: 30, ...settings });
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  it.each(POINTS)('%s, compacts its range once', async (point) => {
    const dying: RunningRunner = system.startRunner({
      point: COMPACTION_POINTS.find((one) => one === point),
    });
    const kill = () => void dying.child.kill('SIGKILL');
    const none = () => {};
    atSummary = {
      requested: point === SUMMARY_POINTS[0] ? kill : none,
      written: point === SUMMARY_POINTS[1] ? kill : none,
    };
    const session = await system.begin(FIRST_MESSAGE);
    await system.answered(session);
    let isKilled = false;
    const killed = dying.exited.then(([, signal]) => {
      isKilled = true;
      expect(signal).toBe('SIGKILL');
    });
    for (let turn = 0; !isKilled; turn++) {
      expect(turn, 'the compaction has not begun').toBeLessThan(8);
      await system.send(session, turn % 2 === 0 ? MESSAGE : LARGE);
      await Promise.race([system.answered(session), killed]);
    }
    atSummary = { requested: none, written: none };
    const successor = system.startRunner();
    await system.answered(session);
    const compactions = await system.eventsOf(session, ['agent.context_compacted']);
    const found = compactions.map(({ json }) => JSON.parse(json).data);
    expect(found.map(({ strategy }) => strategy)).toContain('summarize');
    const ranges = found.map(({ from_seq: from, to_seq: to, strategy }) => `${strategy} ${from} ${to}`);
    expect(new Set(ranges).size).toBe(ranges.length);
    expect(found.filter(({ strategy }) => strategy === 'summarize')).toHaveLength(1);
    await system.send(session, LAST_MESSAGE);
    await system.answered(session);
    const answers = await system.eventsOf(session, ['agent.message']);
    expect(JSON.parse(answers.at(-1)?.json ?? '{}').data.content).toEqual([
      { type: 'text', text: CODE_WORD },
    ]);
    successor.child.kill('SIGKILL');
    await successor.exited;
  });

  it('leaves rows that agree with their journals', async () => {
    expect(await brokenInvariants(database.url)).toEqual([]);
  });
});
