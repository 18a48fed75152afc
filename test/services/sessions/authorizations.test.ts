import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import {
  approvalsOf,
  authorizationAsk,
  blockedWith,
  blockTurn,
  decide,
  detailsOf,
  inputAsk,
  SERVER,
} from './call-approvals.ts';
import { trackSessions } from './created-sessions.ts';
import {
  claimTurn,
  claimTurns,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  STRANGER,
  sendReports,
  typesOf,
} from './system.ts';
import { createReporter, toolCallStep, toolDispatched } from './turn-events.ts';

const caller = OWNER;
const OTHER_SERVER = 'mcp_00000000000000000000000002';

describe.each(TRANSPORTS)('authorizations over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { track } = trackSessions(() => system);
  // Turns that a decision has queued are started, so that deleting their sessions ends their calls.
  afterEach(() => claimTurns(system));
  const blockOn = async (...asks: Parameters<typeof blockTurn>[1]) => {
    const blocked = await blockTurn(system, asks);
    track(blocked.sessionId);
    return blocked;
  };
  const sessionOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller })).session;
  const resolve = async (userId = OWNER.userId, mcpServerId = SERVER) =>
    (await system.as('vaults').resolveAuthorizations({ userId, mcpServerId })).resolved;
  const stopReasonOf = async (sessionId: string) =>
    JSON.parse((await sessionOf(sessionId))?.stopReasonJson ?? '');

  it('block the turn and show the details', async () => {
    const { sessionId, approvals } = await blockOn(authorizationAsk('call_1'));
    expect(approvals).toMatchObject([
      { kind: 'authorization', status: 'pending', toolUseId: 'call_1', toolName: 'count' },
    ]);
    expect(JSON.parse(approvals[0]?.detailsJson ?? '')).toEqual(detailsOf());
    expect(approvals[0]?.expiresAt).toEqual(new Date(clock.now().getTime() + 600_000));
    const events = (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));
    const requested = events.find(({ type }) => type === 'approval.requested');
    expect(requested.data).toMatchObject({ kind: 'authorization', details: detailsOf() });
    expect(events.find(({ type }) => type === 'turn.blocked').data.kind).toBe('authorization');
    expect(await stopReasonOf(sessionId)).toEqual({
      type: 'requires_action',
      kind: 'authorization',
      blocking: [requested.event_id],
    });
    expect(await sessionOf(sessionId)).toMatchObject({ state: 'needs_input', needsAction: true });
    expect(await claimTurns(system)).toEqual([]);
  });

  it('of several calls to one server share one approval, which one decision resolves', async () => {
    const { sessionId, approvals } = await blockOn(
      authorizationAsk('call_1'),
      authorizationAsk('call_2', detailsOf(OTHER_SERVER)),
      authorizationAsk('call_3'),
    );
    expect(approvals.map(({ toolUseId }) => toolUseId)).toEqual(['call_1', 'call_2']);
    const events = (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));
    const requested = events.filter(({ type }) => type === 'approval.requested');
    expect(requested.map(({ data }) => data.tool_use_ids)).toEqual([['call_1', 'call_3'], undefined]);
    expect((await stopReasonOf(sessionId)).blocking).toEqual(requested.map(({ event_id: id }) => id));
    await decide(system, approvals[0], 'retry');
    expect(await claimTurns(system)).toEqual([]);
    await decide(system, approvals[1], 'deny', { reason: 'no' });
    const { openCalls } = await claimTurn(system);
    expect(openCalls).toMatchObject([
      { toolUseId: 'call_1', decision: { kind: 'authorization', decision: 'retry', inputJson: '' } },
      { toolUseId: 'call_2', decision: { kind: 'authorization', decision: 'deny', reason: 'no' } },
      { toolUseId: 'call_3', decision: { kind: 'authorization', decision: 'retry', inputJson: '' } },
    ]);
    expect(JSON.parse(openCalls[1]?.decision?.detailsJson ?? '')).toEqual(detailsOf(OTHER_SERVER));
  });

  it('name the first kind of all open requests and block on all of them', async () => {
    const { sessionId } = await blockOn(inputAsk('call_1'), authorizationAsk('call_2'), {
      kind: 'tool',
      toolUseId: 'call_3',
      toolName: 'count',
      inputJson: '{}',
    });
    const { kind, blocking } = await stopReasonOf(sessionId);
    expect(kind).toBe('authorization');
    expect(blocking).toHaveLength(3);
    const [input, authorization] = await approvalsOf(system, sessionId);
    await decide(system, authorization, 'retry');
    expect((await stopReasonOf(sessionId)).kind).toBe('input');
    await decide(system, input, 'cancel');
    expect((await stopReasonOf(sessionId)).kind).toBe('tool_approval');
  });

  it('keep the input of the approval before them', async () => {
    const { sessionId, approvals } = await blockOn({
      kind: 'tool',
      toolUseId: 'call_1',
      toolName: 'count',
      inputJson: '{"by":"call_1"}',
    });
    const [approval] = approvals;
    const allowed = { sessionId, approvalId: approval?.approvalId ?? '', decision: 'allow', reason: '' };
    await system.edge.decideApproval({ ...allowed, editedInputJson: '{"by":"me"}' }, { caller });
    await createReporter(
      system,
      await claimTurn(system),
    )({ outcome: blockedWith(authorizationAsk('call_1')) });
    await decide(system, (await approvalsOf(system, sessionId))[1], 'retry');
    const second = await claimTurn(system);
    expect(second.openCalls).toMatchObject([
      { decision: { kind: 'authorization', decision: 'retry', inputJson: '{"by":"me"}', edited: true } },
    ]);
    await createReporter(system, second)({ outcome: blockedWith(authorizationAsk('call_1')) });
    await decide(system, (await approvalsOf(system, sessionId))[2], 'retry');
    expect((await claimTurn(system)).openCalls).toMatchObject([
      { decision: { kind: 'authorization', inputJson: '{"by":"me"}', edited: true } },
    ]);
  });

  it.each([
    ['allow', {}],
    ['accept', {}],
    ['retry', { contentJson: '{}' }],
  ])('refuse the decision %s with %j and stay open', async (decision, more) => {
    const { approvals } = await blockOn(authorizationAsk('call_1'));
    await expect(decide(system, approvals[0], decision, more)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: decision === 'retry' ? '/content' : '/decision' }],
    });
    expect(await decide(system, approvals[0], 'deny')).toMatchObject({ status: 'decided' });
  });

  it('refuse a second, different decision, and repeat the first one', async () => {
    const { approvals } = await blockOn(authorizationAsk('call_1'));
    await decide(system, approvals[0], 'retry');
    expect(await decide(system, approvals[0], 'retry')).toMatchObject({ decision: 'retry' });
    await expect(decide(system, approvals[0], 'deny')).rejects.toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
    });
  });

  it('are decided by the owner of the session only', async () => {
    const { approvals } = await blockOn(authorizationAsk('call_1'));
    await expect(decide(system, approvals[0], 'retry', {}, STRANGER)).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('expire, after which the call is refused', async () => {
    const { sessionId } = await blockOn(authorizationAsk('call_1'), authorizationAsk('call_2'));
    const expired = async () => (await approvalsOf(system, sessionId))[0]?.status === 'expired';
    await advanceUntil('the approval has expired', () => clock.advance(30_000), expired);
    const { openCalls } = await claimTurn(system);
    expect(openCalls.map(({ decision }) => [decision?.kind, decision?.decision])).toEqual([
      ['authorization', 'expired'],
      ['authorization', 'expired'],
    ]);
    const events = (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));
    expect(events.filter(({ type }) => type === 'approval.decided')).toMatchObject([
      { data: { decision: 'deny', by: 'system', reason: 'expired' } },
    ]);
  });

  it('are cancelled once by an interrupt', async () => {
    const { sessionId, approvals } = await blockOn(authorizationAsk('call_1'), authorizationAsk('call_2'));
    await system.edge.interruptSession({ sessionId }, { caller });
    const types = typesOf(await journalOf(system, sessionId));
    expect(types.filter((type) => type === 'approval.decided').length).toBe(1);
    expect(types.filter((type) => type === 'agent.tool_result').length).toBe(2);
    expect(await approvalsOf(system, sessionId)).toMatchObject([{ status: 'cancelled' }]);
    await expect(decide(system, approvals[0], 'retry')).rejects.toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
    });
    expect(await resolve()).toBe(0);
  });

  it('do not follow into a fork', async () => {
    const { sessionId } = await blockOn(authorizationAsk('call_1'));
    const afterSeq = (await journalOf(system, sessionId)).length;
    const request = { sessionId, idempotencyKey: '', afterSeq };
    const { session } = await system.edge.forkSession(request, { caller });
    track(session?.sessionId ?? '');
    expect(await approvalsOf(system, session?.sessionId ?? '')).toEqual([]);
    expect(session).toMatchObject({ needsAction: false });
  });

  it('allow one more dispatch of a call whose credential was refused', async () => {
    const { turn, report, approvals } = await blockOn(inputAsk('call_1'));
    await decide(system, approvals[0], 'accept', { contentJson: '{"branch":"main"}' });
    const second = await claimTurn(system);
    await expect(report({ events: [toolDispatched('call_1', 2, turn.fence)] })).rejects.toThrow('LEASE_LOST');
    const events = [toolDispatched('call_1', 2, second.fence)];
    await createReporter(system, second)({ events, outcome: blockedWith(authorizationAsk('call_1')) });
    const [, authorization] = await approvalsOf(system, second.sessionId);
    await decide(system, authorization, 'retry');
    expect((await claimTurn(system)).openCalls).toMatchObject([
      {
        dispatches: 2,
        decision: { kind: 'authorization', decision: 'retry', dispatches: 2, inputJson: '{"by":"call_1"}' },
        answer: { kind: 'input', decision: 'accept', contentJson: '{"branch":"main"}' },
      },
    ]);
  });

  it('request nothing again for a repeated report', async () => {
    const { sessionId, turn } = await blockOn(authorizationAsk('call_1'));
    const before = await journalOf(system, sessionId);
    const [repeated] = await sendReports(
      system,
      reportFor(turn, 1, { outcome: blockedWith(authorizationAsk('call_1')) }),
    );
    expect(repeated).toMatchObject({ errorCode: 'LEASE_LOST' });
    expect(await journalOf(system, sessionId)).toEqual(before);
  });

  it.each([
    ['no details', undefined],
    ['details that are no object', '[]'],
    ['details over 64 KiB', JSON.stringify({ name: 'x'.repeat(64 * 1024) })],
  ])('refuse a request with %s', async (_, detailsJson) => {
    const { turn } = await openTurn();
    const ask = { ...authorizationAsk('call_1'), detailsJson };
    const results = await sendReports(
      system,
      reportFor(turn, 1, { events: toolCallStep('msg_1', { id: 'call_1' }), outcome: blockedWith(ask) }),
    );
    expect(results).toMatchObject([{ errorCode: 'INVALID_REQUEST' }]);
  });

  async function openTurn() {
    const { sessionId, approvals } = await blockOn(authorizationAsk('call_0'));
    await decide(system, approvals[0], 'deny');
    return { sessionId, turn: await claimTurn(system) };
  }

  describe('when a call cannot be prepared', () => {
    const retry: TurnReport['outcome'] = {
      kind: {
        $case: 'retry',
        value: {
          error: { code: 'dependency_unavailable', message: 'unavailable' },
          delayMs: 1,
          whenExhausted: { asks: [authorizationAsk('call_0', detailsOf(SERVER, 'unavailable'))] },
        },
      },
    };

    it('block the turn when its retries are spent, and allow all retries after a decision', async () => {
      const { sessionId, turn } = await openTurn();
      let current = turn;
      /** Retries the turn until it blocks. Returns the number of retries. */
      const exhaust = async () => {
        for (let retries = 0; ; retries++) {
          await createReporter(system, current)({ outcome: retry });
          if ((await sessionOf(sessionId))?.needsAction) return retries;
          let claimed: Awaited<ReturnType<typeof claimTurns>> = [];
          await advanceUntil(
            'the turn is ready',
            () => clock.advance(250),
            async () => {
              claimed = await claimTurns(system, 1);
              return claimed.length > 0;
            },
          );
          current = claimed[0] ?? current;
        }
      };
      const retries = await exhaust();
      expect(retries).toBeGreaterThan(0);
      const approval = (await approvalsOf(system, sessionId)).at(-1);
      expect(JSON.parse(approval?.detailsJson ?? '')).toMatchObject({ reason: 'unavailable' });
      expect(await stopReasonOf(sessionId)).toMatchObject({ kind: 'authorization' });
      expect(typesOf(await journalOf(system, sessionId))).not.toContain('turn.failed');
      await decide(system, approval, 'retry');
      current = await claimTurn(system);
      expect(await exhaust()).toBe(retries);
    });
  });

  describe('ResolveAuthorizations', () => {
    it('decides the waiting authorizations of the user for the server with retry', async () => {
      const first = await blockOn(authorizationAsk('call_1'), authorizationAsk('call_2'));
      const other = await blockOn(authorizationAsk('call_1', detailsOf(OTHER_SERVER)));
      const strangers = await blockTurn(system, [authorizationAsk('call_1')], STRANGER);
      expect(await resolve()).toBe(1);
      expect(await approvalsOf(system, first.sessionId)).toMatchObject([
        { status: 'decided', decision: 'retry', decidedBy: OWNER.userId, reason: 'connected' },
      ]);
      expect(await approvalsOf(system, other.sessionId)).toMatchObject([{ status: 'pending' }]);
      expect(await approvalsOf(system, strangers.sessionId, STRANGER)).toMatchObject([{ status: 'pending' }]);
      expect((await claimTurns(system)).map(({ sessionId }) => sessionId)).toEqual([first.sessionId]);
      expect(await resolve(STRANGER.userId)).toBe(1);
      expect((await claimTurns(system)).map(({ sessionId }) => sessionId)).toEqual([strangers.sessionId]);
      await system.edge.deleteSession({ sessionId: strangers.sessionId }, { caller: STRANGER });
    });

    it('changes nothing when it is repeated, and resolves again after another request', async () => {
      const { sessionId } = await blockOn(authorizationAsk('call_1'));
      expect(await resolve()).toBe(1);
      const events = await journalOf(system, sessionId);
      expect(await resolve()).toBe(0);
      expect(await journalOf(system, sessionId)).toEqual(events);
      await createReporter(
        system,
        await claimTurn(system),
      )({ outcome: blockedWith(authorizationAsk('call_1')) });
      expect(await resolve()).toBe(1);
    });

    it('also decides an authorization that is requested while the user connects', async () => {
      expect(await resolve()).toBe(0);
      const { sessionId } = await blockOn(authorizationAsk('call_1'));
      const isDecided = async () => (await approvalsOf(system, sessionId))[0]?.status === 'decided';
      await advanceUntil('the authorization is decided', () => clock.advance(500), isDecided);
      expect(await approvalsOf(system, sessionId)).toMatchObject([{ reason: 'connected' }]);
    });

    it('decides each approval once when it runs twice at the same time', async () => {
      const blocked = [];
      for (let index = 0; index < 5; index++) blocked.push(await blockOn(authorizationAsk('call_1')));
      const counts = await Promise.all([resolve(), resolve()]);
      expect(counts[0] + counts[1]).toBe(5);
      for (const { sessionId } of blocked) {
        const types = typesOf(await journalOf(system, sessionId));
        expect(types.filter((type) => type === 'approval.decided').length).toBe(1);
      }
    });
  });
});

describe('ResolveAuthorizations with 200 waiting sessions', () => {
  it('resumes all of them, in batches', async () => {
    const clock = createFakeClock();
    await using system = await openSystem('in process', { clock });
    const sessionIds = [];
    for (let index = 0; index < 200; index++)
      sessionIds.push((await blockTurn(system, [authorizationAsk('call_1')])).sessionId);
    const request = { userId: OWNER.userId, mcpServerId: SERVER };
    expect(await system.as('vaults').resolveAuthorizations(request)).toEqual({ resolved: 200 });
    const { turns } = await system.runner.claimTurns({ runnerId: 'rnr_1', slots: 200, waitMs: 0 });
    const rest = await system.runner.claimTurns({ runnerId: 'rnr_1', slots: 200, waitMs: 0 });
    expect(new Set([...turns, ...rest.turns].map(({ sessionId }) => sessionId))).toEqual(new Set(sessionIds));
  });
});
