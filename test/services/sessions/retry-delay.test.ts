import { describe, expect, it } from 'vitest';
import { seeded } from '../../chaos/random.ts';
import { createFakeClock } from '../../support/clock.ts';
import { claimTurns, createConversation, journalOf, openSystem, reportFor, sendReports } from './system.ts';

const TURNS = 8;
const retry = (delayMs = 0) => ({
  kind: {
    $case: 'retry' as const,
    value: { error: { code: 'model_overloaded', message: 'busy' }, delayMs },
  },
});

describe('ReportTurns with retryable failures', () => {
  it('gives turns that fail at the same moment different wake times between 0.5 and 1 second', async () => {
    const clock = createFakeClock();
    await using system = await openSystem('in process', { clock, random: seeded(1) });
    const sessionIds: string[] = [];
    for (let index = 0; index < TURNS; index++)
      sessionIds.push(await createConversation(system, `turn ${index}`));
    const turns = await claimTurns(system, TURNS);
    expect(turns).toHaveLength(TURNS);
    const failedAt = clock.now().getTime();
    await sendReports(system, ...turns.map((turn) => reportFor(turn, 1, { outcome: retry() })));
    const delays: number[] = [];
    for (const sessionId of sessionIds) {
      const errors = (await journalOf(system, sessionId)).filter(({ type }) => type === 'session.error');
      expect(errors).toHaveLength(1);
      delays.push(Date.parse(JSON.parse(errors[0]?.json ?? '').data.next_attempt_at) - failedAt);
    }
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
    expect(new Set(delays).size).toBeGreaterThan(TURNS / 2);
  });

  it('keeps the delay that the model provider requested', async () => {
    const clock = createFakeClock();
    await using system = await openSystem('in process', { clock, random: seeded(1) });
    const sessionId = await createConversation(system, 'turn');
    const [turn] = await claimTurns(system);
    const failedAt = clock.now().getTime();
    await sendReports(system, reportFor(turn!, 1, { outcome: retry(7_000) }));
    const [error] = (await journalOf(system, sessionId)).filter(({ type }) => type === 'session.error');
    expect(Date.parse(JSON.parse(error?.json ?? '').data.next_attempt_at)).toBe(failedAt + 7_000);
  });
});
