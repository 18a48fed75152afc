import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../services/sessions/domain/state.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import {
  AGENT,
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
  sendText,
  typesOf,
} from './system.ts';

const APPENDED = { errorCode: '', errorMessage: '', followed: false, steered: false };
const LOST = { errorCode: 'LEASE_LOST' };
const delta = (text: string, index = 0) => ({
  type: 'agent.message_delta',
  dataJson: JSON.stringify({ message_id: 'msg_1', index, delta: text }),
});
const retry = (code: string, delayMs = 0) => ({
  kind: { $case: 'retry' as const, value: { error: { code, message: 'busy' }, delayMs } },
});

describe.each(TRANSPORTS)('turns over %s', (transport) => {
  const clock = createFakeClock();
  let system: SessionsSystem;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const statusOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller: OWNER })).session;
  const turnsOf = async (sessionId: string) =>
    (
      await system.edge.listTurns(
        { sessionId, page: { limit: 50, cursor: '' }, unfinished: false },
        { caller: OWNER },
      )
    ).turns;
  /** Moves time until the sweeper has made the turn claimable again. */
  const claimAfter = (ms: number) => {
    clock.advance(ms);
    return advanceUntil(
      'the turn is ready again',
      () => clock.advance(300),
      async () => (await claimTurns(system, 1, 'rnr_2'))[0],
    );
  };

  it('are claimed with their messages and completed once', async () => {
    const sessionId = await createConversation(system, 'work');
    const turn = await claimTurn(system);
    expect(turn).toMatchObject({
      sessionId,
      agentId: AGENT,
      agentVersion: 3,
      attempt: 1,
      ownerId: OWNER.userId,
    });
    expect(turn.messages.map((event) => JSON.parse(event.json).data.content[0].text)).toEqual(['work']);
    expect(turn.messagesIncomplete).toBe(false);
    expect(await statusOf(sessionId)).toMatchObject({
      status: 'running',
      currentTurnId: turn.turnId,
      queuedTurns: 0,
    });
    const usage = { ...NO_USAGE, inputTokens: 3, outputTokens: 4, steps: 1, toolCalls: 0, activeMs: 1500 };
    const message = { type: 'agent.message', dataJson: '{"message_id":"msg_1","content":[]}' };
    expect(
      await sendReports(system, reportFor(turn, 1, { events: [delta('hi')], openMessageId: 'msg_1' })),
    ).toEqual([APPENDED]);
    expect(
      await sendReports(system, reportFor(turn, 2, { events: [message], usage, outcome: COMPLETED })),
    ).toEqual([APPENDED]);
    expect(await sendReports(system, reportFor(turn, 3, { outcome: COMPLETED }))).toMatchObject([LOST]);
    expect(await statusOf(sessionId)).toMatchObject({
      status: 'idle',
      stopReasonJson: '{"type":"end_turn"}',
      currentTurnId: '',
      usage,
    });
    expect(await turnsOf(sessionId)).toMatchObject([
      { turnId: turn.turnId, status: 'completed', attempt: 1, usage },
    ]);
    expect(typesOf(await journalOf(system, sessionId))).toEqual([
      'session.created',
      'user.message',
      'turn.queued',
      'session.status_pending',
      'turn.started',
      'session.status_running',
      'agent.message_delta',
      'agent.message',
      'turn.completed',
      'session.status_idle',
    ]);
  });

  it('run one at a time in a session, in the order of their messages', async () => {
    const sessionId = await createConversation(system, 'one');
    await sendText(system, sessionId, 'two');
    await sendText(system, sessionId, 'three');
    const order: string[] = [];
    for (let i = 0; i < 3; i++) {
      const [turn, ...others] = await claimTurns(system);
      expect(others).toEqual([]);
      if (!turn) throw new Error('no turn');
      const own = turn.messages
        .map((event) => JSON.parse(event.json))
        .find((event) => event.turn_id === turn.turnId);
      order.push(own.data.content[0].text);
      await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    }
    expect(order).toEqual(['one', 'two', 'three']);
    expect(await statusOf(sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
  });

  it('are claimed by one runner each when several claim at once', async () => {
    const sessionIds = await Promise.all(
      Array.from({ length: 30 }, (_, i) => createConversation(system, `parallel ${i}`)),
    );
    const claims = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((name) => claimTurns(system, 10, `rnr_${name}`)),
    );
    const rest = await claimTurns(system, 100);
    const turns = [...claims.flat(), ...rest];
    expect(turns.map((turn) => turn.sessionId).sort()).toEqual(sessionIds.sort());
    await sendReports(system, ...turns.map((turn) => reportFor(turn, 1, { outcome: COMPLETED })));
    for (const sessionId of sessionIds) expect(await statusOf(sessionId)).toMatchObject({ status: 'idle' });
  });

  it('are claimed interactive before triggered', async () => {
    const invocation = {
      deploymentId: 'dep_01M7XYC91CC5TE06JQWDWRTJVD',
      agentId: AGENT,
      agentVersion: 3,
      ownerId: OWNER.userId,
      text: 'hook',
      bodyBytes: 4,
      sourceAddress: '::1',
    };
    await system.deployments.createSession({ ...invocation, invocationId: 'inv_01M7XYC91CC5TE06JQWDWRTJVX' });
    const sessionId = await createConversation(system, 'human');
    const first = await claimTurn(system);
    const second = await claimTurn(system);
    expect([first.sessionId, second.sessionId]).toEqual([sessionId, 'ses_01M7XYC91CC5TE06JQWDWRTJVX']);
    await sendReports(
      system,
      reportFor(first, 1, { outcome: COMPLETED }),
      reportFor(second, 1, { outcome: COMPLETED }),
    );
  });

  it('append a repeated report once', async () => {
    const sessionId = await createConversation(system, 'again');
    const turn = await claimTurn(system);
    const report = reportFor(turn, 1, { events: [delta('once')] });
    expect(await sendReports(system, report)).toEqual([APPENDED]);
    expect(await sendReports(system, report)).toEqual([APPENDED]);
    await sendReports(system, reportFor(turn, 2, { outcome: COMPLETED }));
    const deltas = typesOf(await journalOf(system, sessionId)).filter(
      (type) => type === 'agent.message_delta',
    );
    expect(deltas).toHaveLength(1);
  });

  it('are claimed by another runner when the lease expires, and late reports are refused', async () => {
    const sessionId = await createConversation(system, 'lost');
    const first = await claimTurn(system);
    await sendReports(system, reportFor(first, 1, { events: [delta('half')], openMessageId: 'msg_1' }));
    const second = await claimAfter(16_000);
    expect(second).toMatchObject({ turnId: first.turnId, attempt: 2 });
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(
      await sendReports(system, reportFor(first, 2, { events: [delta('late')], outcome: COMPLETED })),
    ).toMatchObject([LOST]);
    const renewed = await system.runner.renewLeases({ runnerId: 'rnr_1', leases: [first] });
    expect(renewed.lostTurnIds).toEqual([first.turnId]);
    await sendReports(system, reportFor(second, 1, { outcome: COMPLETED }));
    const types = typesOf(await journalOf(system, sessionId));
    expect(types.slice(6)).toEqual([
      'agent.message_delta',
      'agent.message_discarded',
      'session.status_rescheduled',
      'turn.started',
      'session.status_running',
      'turn.completed',
      'session.status_idle',
    ]);
  });

  it('keep their lease while the runner renews it', async () => {
    await createConversation(system, 'long');
    const turn = await claimTurn(system);
    for (let i = 0; i < 4; i++) {
      clock.advance(10_000);
      expect(await system.runner.renewLeases({ runnerId: 'rnr_1', leases: [turn] })).toEqual({
        lostTurnIds: [],
        unextendedTurnIds: [],
        steeredTurnIds: [],
      });
    }
    expect(await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }))).toEqual([APPENDED]);
  });

  it('sleep after a retryable failure and fail with retries_exhausted when retries are spent', async () => {
    const sessionId = await createConversation(system, 'flaky');
    let turn = await claimTurn(system);
    for (const delayMs of [5_000, 0]) {
      await sendReports(system, reportFor(turn, 1, { outcome: retry('model_overloaded', delayMs) }));
      expect(await statusOf(sessionId)).toMatchObject({ status: 'rescheduling', currentTurnId: '' });
      expect(await claimTurns(system)).toEqual([]);
      turn = await claimAfter(delayMs);
    }
    expect(turn.attempt).toBe(3);
    await sendReports(system, reportFor(turn, 1, { outcome: retry('model_overloaded') }));
    expect(await statusOf(sessionId)).toMatchObject({
      status: 'idle',
      stopReasonJson: '{"type":"retries_exhausted"}',
    });
    expect(await turnsOf(sessionId)).toMatchObject([
      { status: 'failed', errorJson: '{"code":"model_overloaded","message":"busy"}' },
    ]);
    const errors = (await journalOf(system, sessionId)).filter((event) => event.type === 'session.error');
    expect(errors.map((event) => JSON.parse(event.json).data.retry_status)).toEqual([
      'retrying',
      'retrying',
      'exhausted',
    ]);
  });

  it('have the stop reason failed when they fail without a retry', async () => {
    const sessionId = await createConversation(system, 'refused');
    const error = { code: 'model_bad_request', message: 'no' };
    const outcome = { kind: { $case: 'failed' as const, value: { error } } };
    await sendReports(system, reportFor(await claimTurn(system), 1, { outcome }));
    expect(await statusOf(sessionId)).toMatchObject({ status: 'idle', stopReasonJson: '{"type":"failed"}' });
    const errors = (await journalOf(system, sessionId)).filter((event) => event.type === 'session.error');
    expect(errors.map((event) => JSON.parse(event.json).data.retry_status)).toEqual(['terminal']);
  });

  it('are ready at once when a stopping runner returns them, without counting a failure', async () => {
    await createConversation(system, 'handed back');
    const turn = await claimTurn(system);
    await sendReports(system, reportFor(turn, 1, { outcome: retry('runner_stopping', 1) }));
    const again = await claimTurn(system, 'rnr_2');
    expect(again).toMatchObject({ turnId: turn.turnId, attempt: 2 });
    await sendReports(system, reportFor(again, 1, { outcome: COMPLETED }));
  });

  it('are interrupted by a message with busy_policy interrupt', async () => {
    const sessionId = await createConversation(system, 'slow');
    const turn = await claimTurn(system);
    await sendText(system, sessionId, 'stop, do this', 'interrupt');
    expect(await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }))).toMatchObject([LOST]);
    const next = await claimTurn(system);
    await sendReports(system, reportFor(next, 1, { outcome: COMPLETED }));
    expect(await turnsOf(sessionId)).toMatchObject([{ status: 'interrupted' }, { status: 'completed' }]);
  });

  it('end when their session is deleted', async () => {
    const sessionId = await createConversation(system, 'doomed');
    const turn = await claimTurn(system);
    await sendText(system, sessionId, 'waiting');
    await system.edge.deleteSession({ sessionId }, { caller: OWNER });
    expect(await sendReports(system, reportFor(turn, 1, { events: [delta('x')] }))).toMatchObject([LOST]);
    expect(await claimTurns(system)).toEqual([]);
  });

  it('may not report event types that only the service writes', async () => {
    const sessionId = await createConversation(system, 'forger');
    const turn = await claimTurn(system);
    const forged = { type: 'session.status_idle', dataJson: '{}' };
    const broken = { type: 'agent.message', dataJson: '{"a":\n1}' };
    expect(await sendReports(system, reportFor(turn, 1, { events: [forged] }))).toMatchObject([
      { errorCode: 'INVALID_REQUEST' },
    ]);
    expect(await sendReports(system, reportFor(turn, 1, { events: [broken] }))).toMatchObject([
      { errorCode: 'INVALID_REQUEST' },
    ]);
    await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    expect(typesOf(await journalOf(system, sessionId)).at(-1)).toBe('session.status_idle');
  });

  it('are reported although another report of the same RPC is not valid JSON', async () => {
    await Promise.all([createConversation(system, 'good'), createConversation(system, 'bad')]);
    const [good, bad] = await claimTurns(system);
    if (!good || !bad) throw new Error('two turns');
    const results = await sendReports(
      system,
      reportFor(bad, 1, { events: [{ type: 'agent.message', dataJson: '{"open' }] }),
      reportFor(good, 1, { events: [delta('fine')] }),
    );
    expect(results[0]?.errorCode).not.toBe('');
    expect(results[1]).toEqual(APPENDED);
    await sendReports(
      system,
      reportFor(bad, 1, { outcome: COMPLETED }),
      reportFor(good, 2, { outcome: COMPLETED }),
    );
  });
});

describe('turns of one agent', () => {
  it('wait while SERVICE_AGENT_MAX_RUNNING_TURNS turns are in progress', async () => {
    await using system = await openSystem('in process', {}, { maxTurnsPerAgent: 2 });
    await Promise.all([1, 2, 3].map((i) => createConversation(system, `${i}`)));
    const running = await claimTurns(system);
    expect(running).toHaveLength(2);
    expect(await claimTurns(system)).toEqual([]);
    await sendReports(
      system,
      ...running.slice(0, 1).map((turn) => reportFor(turn, 1, { outcome: COMPLETED })),
    );
    expect(await claimTurns(system)).toHaveLength(1);
  });
});
