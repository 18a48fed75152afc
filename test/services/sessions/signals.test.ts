import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Signal } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { NO_USAGE } from '../../../services/sessions/domain/state.ts';
import { captureLog } from '../../support/captured-log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import { advanceUntil } from '../../support/wait.ts';
import { trackSessions } from './created-sessions.ts';
import { drainSignals, kindsOf, newRunId, runRequest, sendForRun } from './deployment-runs.ts';
import {
  COMPLETED,
  claimTurn,
  claimTurns,
  MANAGER,
  OWNER,
  openReplica,
  openSystem,
  reportFor,
  type SessionsSystem,
  sendReports,
  sendText,
} from './system.ts';
import { blockedOn, createReporter, toolCallStep, toolResult } from './turn-events.ts';

const caller = OWNER;
const DAY_MS = 24 * 3_600_000;
const USAGE = { ...NO_USAGE, inputTokens: 7, outputTokens: 5, steps: 1, toolCalls: 0, activeMs: 2_000 };
const FAILED = {
  kind: { $case: 'failed' as const, value: { error: { code: 'MODEL_FAILED', message: 'no such model' } } },
};
const RETRY = {
  kind: {
    $case: 'retry' as const,
    value: { error: { code: 'MODEL_OVERLOADED', message: 'busy' }, delayMs: 1_000 },
  },
};
const LIMIT_REACHED = {
  kind: { $case: 'completed' as const, value: { stopReason: 'max_steps_reached' } },
};
const typeOf = (json: string | undefined) => JSON.parse(json || '{}').type;

describe.each(TRANSPORTS)('signals over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin, track } = trackSessions(() => system);
  beforeEach(() => {
    // The leases of earlier tests end.
    clock.advance(300_000);
    return drainSignals(system);
  });

  const startRun = async (): Promise<{ sessionId: string; turnId: string }> => {
    const created = await system.deployments.createSession(runRequest(newRunId()));
    track(created.sessionId);
    return created;
  };
  const claim = (limit = 500, leaseSeconds = 60, from: SessionsSystem = system) =>
    from.deployments.claimSignals({ limit, leaseSeconds });
  const lookUp = async (...turnIds: string[]) => (await system.deployments.lookUpTurns({ turnIds })).turns;
  /** Blocks the claimed turn on approvals of these calls. */
  const block = async (...ids: string[]) => {
    const turn = await claimTurn(system);
    const calls = ids.map((id) => ({ id }));
    const report = createReporter(system, turn);
    await report({ events: toolCallStep('msg_1', ...calls), outcome: blockedOn(...calls) });
    return turn;
  };
  const finish = async () => createReporter(system, await claimTurn(system))({ outcome: COMPLETED });
  const approvalsOf = async (sessionId: string) => {
    const page = { limit: 50, cursor: '' };
    return (await system.edge.listApprovals({ sessionId, status: '', page }, { caller })).approvals;
  };
  const decide = (sessionId: string, approvalId: string) =>
    system.edge.decideApproval(
      { sessionId, approvalId, decision: 'allow', reason: '', editedInputJson: '' },
      { caller },
    );
  const countSignals = () => countOn(system.database.url, 'select count(*) as count from sessions.signals');

  describe('of a session that a schedule has created', () => {
    it('tell that its turn is queued and has ended, with the state of the turn', async () => {
      const { sessionId, turnId } = await startRun();
      expect(await drainSignals(system)).toMatchObject([
        {
          ...{ kind: 'turn_queued', sessionId, approvalId: '', createdAt: clock.now() },
          turn: { turnId, sessionId, status: 'queued', stopReasonJson: '', usageJson: '', errorJson: '' },
        },
      ]);
      clock.advance(1_000);
      const startedAt = clock.now();
      const turn = await claimTurn(system);
      clock.advance(2_000);
      await createReporter(system, turn)({ outcome: COMPLETED, usage: USAGE });
      const [ended, ...others] = await drainSignals(system);
      expect(others).toEqual([]);
      expect(ended).toMatchObject({
        ...{ kind: 'turn_ended', sessionId },
        turn: { turnId, status: 'completed', errorJson: '', startedAt, finishedAt: clock.now() },
      });
      expect(typeOf(ended?.turn?.stopReasonJson)).toBe('end_turn');
      expect(JSON.parse(ended?.turn?.usageJson ?? '')).toMatchObject({ input_tokens: 7, active_seconds: 2 });
      expect(await lookUp(turnId)).toEqual([ended?.turn]);
    });

    it('tell why a turn has failed', async () => {
      const { turnId } = await startRun();
      await createReporter(system, await claimTurn(system))({ outcome: FAILED });
      const ended = (await drainSignals(system)).at(-1);
      expect(ended).toMatchObject({ kind: 'turn_ended', turn: { turnId, status: 'failed' } });
      expect(typeOf(ended?.turn?.stopReasonJson)).toBe('failed');
      expect(JSON.parse(ended?.turn?.errorJson ?? '')).toEqual({
        ...{ code: 'MODEL_FAILED', message: 'no such model' },
      });
    });

    it('tell that a turn is interrupted while it runs, and cancelled before it starts', async () => {
      for (const isStarted of [true, false]) {
        const { sessionId, turnId } = await startRun();
        if (isStarted) await claimTurn(system);
        await system.edge.interruptSession({ sessionId }, { caller });
        const ended = (await drainSignals(system)).at(-1);
        const status = isStarted ? 'interrupted' : 'cancelled';
        expect(ended).toMatchObject({ kind: 'turn_ended', turn: { turnId, status } });
        expect(typeOf(ended?.turn?.stopReasonJson)).toBe('interrupted');
      }
    });

    it('tell that a turn is removed from the queue', async () => {
      const { sessionId } = await startRun();
      const { turnId } = await sendText(system, sessionId, 'second');
      await system.edge.cancelTurn({ sessionId, turnId }, { caller });
      const signals = await drainSignals(system);
      expect(kindsOf(signals)).toEqual(['turn_queued', 'turn_queued', 'turn_ended']);
      expect(signals.at(-1)?.turn).toMatchObject({ turnId, status: 'cancelled' });
      expect(await lookUp(turnId)).toEqual([signals.at(-1)?.turn]);
    });

    it('tell that a turn waits for approvals, each request, each decision, and that the turn goes on', async () => {
      const { sessionId, turnId } = await startRun();
      await block('call_1', 'call_2');
      const blocked = (await drainSignals(system)).slice(1);
      expect(kindsOf(blocked)).toEqual(['approval_requested', 'approval_requested', 'turn_blocked']);
      const approvals = (await approvalsOf(sessionId)).map(({ approvalId }) => approvalId).toSorted();
      expect(blocked.map(({ approvalId }) => approvalId)).toEqual([...approvals, '']);
      expect(blocked.at(-1)?.turn).toMatchObject({ turnId, status: 'blocked', finishedAt: undefined });
      expect(JSON.parse(blocked.at(-1)?.turn?.stopReasonJson ?? '')).toMatchObject({
        ...{ type: 'requires_action', kind: 'tool_approval' },
      });
      expect(await lookUp(turnId)).toEqual([blocked.at(-1)?.turn]);

      for (const approvalId of approvals) await decide(sessionId, approvalId);
      const decided = await drainSignals(system);
      expect(kindsOf(decided)).toEqual(['approval_decided', 'approval_decided', 'turn_resumed']);
      expect(decided.map(({ approvalId }) => approvalId)).toEqual([...approvals, '']);
      expect(decided.map(({ turn }) => turn?.status)).toEqual(['blocked', 'queued', 'queued']);
      await finish();
    });

    it('tell once that a turn is blocked, when a client answers its call', async () => {
      const { sessionId } = await startRun();
      const turn = await claimTurn(system);
      const call = { id: 'call_1', kind: 'tool_result' };
      await createReporter(system, turn)({ events: toolCallStep('msg_1', call), outcome: blockedOn(call) });
      await system.edge.submitToolResult(
        { sessionId, toolUseId: 'call_1', outputJson: '1', isError: false },
        { caller },
      );
      expect(kindsOf(await drainSignals(system))).toEqual(['turn_queued', 'turn_blocked', 'turn_resumed']);
    });

    it('tell that an approval is cancelled with its turn', async () => {
      const { sessionId } = await startRun();
      await block('call_1');
      await drainSignals(system);
      await system.edge.interruptSession({ sessionId }, { caller });
      expect(kindsOf(await drainSignals(system))).toEqual(['approval_decided', 'turn_ended']);
    });

    it('tell that an approval expires', async () => {
      await startRun();
      await block('call_1');
      await drainSignals(system);
      clock.advance(600_000);
      const signals = await advanceUntil(
        'the approval has expired',
        () => clock.advance(250),
        async () => (await countSignals()) > 0 && drainSignals(system),
      );
      expect(kindsOf(signals)).toEqual(['approval_decided', 'turn_resumed']);
      await finish();
    });

    it('tell that the session is deleted, and remain when its content is erased', async () => {
      const { sessionId, turnId } = await startRun();
      await claimTurn(system);
      const { turnId: queued } = await sendText(system, sessionId, 'second');
      await drainSignals(system);
      await system.edge.deleteSession({ sessionId }, { caller });
      const rest = `select count(*) as count from sessions.heads where session_id = '${sessionId}'`;
      await advanceUntil(
        'the session is erased',
        () => clock.advance(600_000),
        async () => (await countOn(system.database.url, rest)) === 0,
      );
      const signals = await drainSignals(system);
      expect(kindsOf(signals)).toEqual(['turn_ended', 'turn_ended', 'session_deleted']);
      expect(signals.flatMap(({ turn }) => turn ?? [])).toMatchObject([
        { turnId, status: 'interrupted' },
        { turnId: queued, status: 'cancelled' },
      ]);
      expect(signals.at(-1)).toMatchObject({ sessionId, turn: undefined });
      expect(await lookUp(turnId, queued)).toEqual([]);
    });

    it('do not tell of starts, retries, lost leases, titles and messages of the agent', async () => {
      const { sessionId } = await startRun();
      await drainSignals(system);
      const turn = await claimTurn(system);
      await createReporter(system, turn)({ events: toolCallStep('msg_1', { id: 'call_1' }), outcome: RETRY });
      await system.edge.updateSession({ sessionId, title: 'renamed', metadata: undefined }, { caller });
      // The turn wakes up, and later loses its lease.
      const claimAgain = () =>
        advanceUntil(
          'the turn is ready',
          () => clock.advance(250),
          async () => (await claimTurns(system, 1))[0],
        );
      expect(await claimAgain()).toMatchObject({ attempt: 2 });
      const again = await claimAgain();
      expect(again).toMatchObject({ attempt: 3 });
      await createReporter(system, again)({ events: [toolResult('call_1')] });
      expect(await countSignals()).toBe(0);
    });

    it('publish a hint after the commit of each change', async () => {
      const counts: Promise<number>[] = [];
      const unsubscribe = system.context.bus.subscribe('sessions.signals', () => counts.push(countSignals()));
      const { sessionId } = await startRun();
      await finish();
      await system.edge.deleteSession({ sessionId }, { caller });
      unsubscribe();
      expect(await Promise.all(counts)).toEqual([1, 2, 3]);
    });
  });

  describe('of other sessions', () => {
    it('are not written for webhooks and conversations, also in a group with a session of a schedule', async () => {
      const invocation = { ...runRequest(newRunId()), actor: undefined };
      const invocationId = newRunId().replace('run_', 'inv_');
      const started = await Promise.all([
        system.deployments.createSession({ ...invocation, invocationId }),
        startRun(),
        system.deployments.createSession({
          ...invocation,
          invocationId: newRunId().replace('run_', 'inv_'),
        }),
      ]);
      const conversation = await begin('hello');
      for (const { sessionId } of started) track(sessionId);
      const turns = [];
      for (let i = 0; i < 4; i++) turns.push(await claimTurn(system));
      await sendReports(system, ...turns.map((turn) => reportFor(turn, 1, { outcome: COMPLETED })));
      await sendText(system, conversation, 'more');
      await system.edge.deleteSession({ sessionId: conversation }, { caller });
      const signals = await drainSignals(system);
      expect(kindsOf(signals)).toEqual(['turn_queued', 'turn_ended']);
      expect(new Set(signals.map(({ sessionId }) => sessionId))).toEqual(new Set([started[1]?.sessionId]));
    });

    it('begin with the first message of a schedule, also for turns of the owner, and not in forks', async () => {
      const sessionId = await begin('hello');
      const interactive = await claimTurn(system);
      expect(await countSignals()).toBe(0);
      const { turnId } = await sendForRun(system, sessionId, newRunId());
      const { turnId: later } = await sendText(system, sessionId, 'and this');
      await createReporter(system, interactive)({ outcome: COMPLETED });
      await createReporter(system, await claimTurn(system))({ outcome: LIMIT_REACHED });
      const signals = await drainSignals(system);
      expect(signals.map(({ kind, turn }) => [kind, turn?.turnId])).toEqual([
        ['turn_queued', turnId],
        ['turn_queued', later],
        ['turn_ended', interactive.turnId],
        ['turn_ended', turnId],
      ]);
      const { session } = await system.edge.getSession({ sessionId }, { caller });
      const request = { sessionId, afterSeq: session?.lastSeq ?? 0, idempotencyKey: '' };
      const fork = await system.edge.forkSession(request, { caller });
      await sendText(system, track(fork.session?.sessionId ?? ''), 'go on');
      expect(await countSignals()).toBe(0);
    });

    it('begin in all processes, also in one that works on the turn of the session', async () => {
      await using replica = await openReplica(transport, system.context);
      const sessionId = await begin('hello');
      const turn = await claimTurn(replica);
      await sendReports(replica, reportFor(turn, 1, { events: [] }));
      const { turnId } = await sendForRun(system, sessionId, newRunId());
      await sendReports(replica, reportFor(turn, 2, { outcome: COMPLETED }));
      expect((await drainSignals(system)).map(({ kind, turn: one }) => [kind, one?.turnId])).toEqual([
        ['turn_queued', turnId],
        ['turn_ended', turn.turnId],
      ]);
    });
  });

  describe('ClaimSignals', () => {
    it('gives two callers different signals, oldest first', async () => {
      await using replica = await openReplica(transport, system.context);
      for (let i = 0; i < 6; i++) await startRun();
      const claims = await Promise.all([claim(2), claim(2, 60, replica), claim(2), claim(2)]);
      const ids = claims.map(({ signals }) => signals.map(({ signalId }) => Number(signalId)));
      for (const claimed of ids) expect(claimed).toEqual(claimed.toSorted((a, b) => a - b));
      const all = ids.flat();
      expect(new Set(all).size).toBe(all.length);
      expect(all).toHaveLength(6);
      expect((await claim()).signals).toEqual([]);
    });

    it('gives a signal again after its lease has ended, until it is acknowledged', async () => {
      await startRun();
      const [first] = (await claim(1, 60)).signals;
      clock.advance(59_000);
      expect((await claim()).signals).toEqual([]);
      clock.advance(1_000);
      expect((await claim(1, 60)).signals).toEqual([first]);
      const unknown = ['0', '999999999', 'not a number', '9'.repeat(40), '-1'];
      await system.deployments.ackSignals({ signalIds: [first?.signalId ?? '', ...unknown] });
      clock.advance(60_000);
      expect((await claim()).signals).toEqual([]);
      await system.deployments.ackSignals({ signalIds: [first?.signalId ?? ''] });
    });

    it('refuses limits, leases and numbers of ids that are out of range', async () => {
      const invalid = { code: 'INVALID_REQUEST' };
      for (const limit of [0, 501]) await expect(claim(limit)).rejects.toMatchObject(invalid);
      for (const lease of [0, 301]) await expect(claim(1, lease)).rejects.toMatchObject(invalid);
      const many = Array.from({ length: 501 }, (_, index) => `${index}`);
      await expect(system.deployments.ackSignals({ signalIds: many })).rejects.toMatchObject(invalid);
      await expect(system.deployments.lookUpTurns({ turnIds: many })).rejects.toMatchObject(invalid);
      expect(await lookUp()).toEqual([]);
    });
  });

  describe('LookUpTurns', () => {
    it('returns the states of turns of several owners, and leaves out unknown ones', async () => {
      const own = await startRun();
      const request = { ...runRequest(newRunId()), ownerId: MANAGER.userId };
      const foreign = await system.deployments.createSession(request);
      const turn = await claimTurn(system);
      const turns = await lookUp(own.turnId, foreign.turnId, 'trn_01M7XYC91CC5TE06JQWDWRTJVR', 'x');
      const expected = [own, foreign].map(({ sessionId, turnId }) => ({
        ...{ sessionId, turnId, status: turnId === turn.turnId ? 'in_progress' : 'queued' },
        ...{ stopReasonJson: '', usageJson: '' },
      }));
      expect(turns.toSorted((a, b) => (a.turnId < b.turnId ? -1 : 1))).toMatchObject(
        expected.toSorted((a, b) => (a.turnId < b.turnId ? -1 : 1)),
      );
      await system.edge.deleteSession({ sessionId: foreign.sessionId }, { caller: MANAGER });
    });

    it('returns the stop reason of each turn when the session has gone on', async () => {
      const { sessionId, turnId } = await startRun();
      const { turnId: second } = await sendForRun(system, sessionId, newRunId());
      await createReporter(system, await claimTurn(system))({ outcome: LIMIT_REACHED });
      await finish();
      const turns = await lookUp(turnId, second);
      expect(new Map(turns.map((turn) => [turn.turnId, typeOf(turn.stopReasonJson)]))).toEqual(
        new Map([
          [turnId, 'max_steps_reached'],
          [second, 'end_turn'],
        ]),
      );
    });
  });
});

describe('signals that no service acknowledges', () => {
  it('are deleted after 7 days with a line in the log', async () => {
    const clock = createFakeClock();
    const { log, lines } = captureLog();
    await using system = await openSystem('in process', { clock, log });
    await system.deployments.createSession(runRequest(newRunId()));
    clock.advance(4 * DAY_MS);
    const { turnId } = await system.deployments.createSession(runRequest(newRunId()));
    await system.deployments.claimSignals({ limit: 500, leaseSeconds: 60 });
    const remaining = async (): Promise<Signal[]> => {
      clock.advance(300_000);
      return (await system.deployments.claimSignals({ limit: 500, leaseSeconds: 300 })).signals;
    };
    expect(await remaining()).toHaveLength(2);
    const left = await advanceUntil(
      'the old signal is deleted',
      () => clock.advance(DAY_MS / 4),
      async () => {
        const signals = await remaining();
        return signals.length < 2 && signals;
      },
    );
    expect(left.map(({ turn }) => turn?.turnId)).toEqual([turnId]);
    expect(lines.filter(({ signals }) => signals === 1)).toMatchObject([
      { level: 'warn', msg: expect.stringContaining('signals') },
    ]);
  });
});
