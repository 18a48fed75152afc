import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenModelRequest, Usage } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { NO_USAGE } from '../../../services/sessions/domain/state.ts';
import { createFakeClock } from '../../support/clock.ts';
import { advanceUntil } from '../../support/wait.ts';
import {
  COMPLETED,
  claimTurn,
  claimTurns,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  type SessionsSystem,
  sendReports,
} from './system.ts';

describe('a model request that its runner has not finished', () => {
  const clock = createFakeClock();
  let system: SessionsSystem;
  beforeAll(async () => {
    system = await openSystem('in process', { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const USAGE: Usage = { ...NO_USAGE, inputTokens: 900, outputTokens: 40, estimated: true };
  const open = (usage: Partial<Usage> = {}): OpenModelRequest => ({
    model: 'rehearsal/echo',
    startedAt: clock.now(),
    usage: { ...USAGE, ...usage },
  });
  const STARTED = { type: 'model.request_started', dataJson: '{"model":"rehearsal/echo"}' };
  const FINISHED = {
    ...{ input_tokens: 900, output_tokens: 40, cached_input_tokens: 0, cache_write_tokens: 0 },
    ...{ reasoning_tokens: 0, estimated: true },
  };

  /** A turn with one open request, reported as of its first and second report. */
  async function begin() {
    const sessionId = await createConversation(system, 'work');
    const turn = await claimTurn(system);
    const first = { events: [STARTED], openModelRequest: open({ outputTokens: 1 }) };
    await sendReports(system, reportFor(turn, 1, first));
    await sendReports(system, reportFor(turn, 2, { openModelRequest: open() }));
    return { sessionId, turn };
  }

  async function eventsOf(sessionId: string, type: string) {
    const events = await journalOf(system, sessionId);
    return events.filter((event) => event.type === type).map(({ json }) => JSON.parse(json).data);
  }

  const usageOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller: OWNER })).session?.usage;

  it('counts with its estimate when the turn is interrupted', async () => {
    const { sessionId } = await begin();
    await system.edge.interruptSession({ sessionId }, { caller: OWNER });
    expect(await eventsOf(sessionId, 'model.request_finished')).toMatchObject([
      { model: 'rehearsal/echo', usage: FINISHED, is_error: true },
    ]);
    expect(await eventsOf(sessionId, 'turn.interrupted')).toMatchObject([{ usage: FINISHED }]);
    expect(await usageOf(sessionId)).toMatchObject(USAGE);
  });

  it('counts once when its runner is lost, also if the next attempt is lost before a request', async () => {
    const { sessionId, turn } = await begin();
    const claimAgain = () => {
      clock.advance(60_000);
      return advanceUntil(
        'the turn is ready again',
        () => clock.advance(300),
        async () => (await claimTurns(system, 1, 'rnr_2'))[0],
      );
    };
    const second = await claimAgain();
    expect(second).toMatchObject({ turnId: turn.turnId, attempt: 2, usage: USAGE });
    const third = await claimAgain();
    expect(third).toMatchObject({ turnId: turn.turnId, attempt: 3, usage: USAGE });
    const usage = { ...NO_USAGE, inputTokens: 5, outputTokens: 5, steps: 1 };
    await sendReports(system, reportFor(third, 1, { usage, outcome: COMPLETED }));
    expect(await eventsOf(sessionId, 'model.request_finished')).toMatchObject([{ usage: FINISHED }]);
    expect(await usageOf(sessionId)).toMatchObject({ inputTokens: 905, outputTokens: 45, estimated: true });
  });

  it('does not count beside the usage of a report that finishes it', async () => {
    const { sessionId, turn } = await begin();
    const usage = { ...NO_USAGE, inputTokens: 100, outputTokens: 9, cachedInputTokens: 60 };
    await sendReports(system, reportFor(turn, 3, { usage }));
    await system.edge.interruptSession({ sessionId }, { caller: OWNER });
    expect(await eventsOf(sessionId, 'model.request_finished')).toEqual([]);
    expect(await usageOf(sessionId)).toMatchObject({
      ...{ inputTokens: 100, outputTokens: 9, cachedInputTokens: 60, estimated: false },
    });
  });

  it('counts when the report with the outcome does not finish it', async () => {
    const { sessionId, turn } = await begin();
    const report = { openModelRequest: open(), outcome: COMPLETED };
    await sendReports(system, reportFor(turn, 3, report));
    expect(await eventsOf(sessionId, 'turn.completed')).toMatchObject([{ usage: FINISHED }]);
    expect(await usageOf(sessionId)).toMatchObject(USAGE);
  });
});
