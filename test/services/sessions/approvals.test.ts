import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Approval } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn } from '../../support/sql.ts';
import { advanceUntil } from '../../support/wait.ts';
import { trackSessions } from './created-sessions.ts';
import {
  COMPLETED,
  claimTurn,
  claimTurns,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  STRANGER,
  sendReports,
  sendText,
  typesOf,
} from './system.ts';
import {
  agentMessage,
  blockedOn,
  createReporter,
  toolCallStep,
  toolDispatched,
  toolResult,
} from './turn-events.ts';

const caller = OWNER;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each(TRANSPORTS)('approvals over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin } = trackSessions(() => system);
  const sessionOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller })).session;
  const approvalsOf = async (sessionId: string, status = ''): Promise<Approval[]> =>
    (await system.edge.listApprovals({ sessionId, status, page: { limit: 50, cursor: '' } }, { caller }))
      .approvals;
  const decide = (approval: Approval | undefined, decision: string, more: object = {}) =>
    system.edge.decideApproval(
      {
        sessionId: approval?.sessionId ?? '',
        approvalId: approval?.approvalId ?? '',
        decision,
        reason: '',
        editedInputJson: '',
        ...more,
      },
      { caller },
    );
  const pending = (approvals: Approval[], toolUseId: string) =>
    approvals.find((one) => one.toolUseId === toolUseId && one.status === 'pending');

  /** Creates a session with a turn that is blocked on approvals of these calls. */
  async function waiting(...ids: string[]) {
    const sessionId = await begin('count for me');
    const turn = await claimTurn(system);
    const calls = ids.map((id) => ({ id, input: { by: id } }));
    await createReporter(
      system,
      turn,
    )({ events: toolCallStep('msg_1', ...calls), outcome: blockedOn(...calls) });
    return { sessionId, turn, approvals: await approvalsOf(sessionId) };
  }

  it('requests an approval and blocks the turn without a lease', async () => {
    const { sessionId, turn, approvals } = await waiting('call_1');
    const events = await journalOf(system, sessionId);
    expect(typesOf(events).slice(-4)).toEqual([
      'agent.tool_use',
      'approval.requested',
      'turn.blocked',
      'session.status_idle',
    ]);
    const requestedEvent = JSON.parse(events.at(-3)?.json ?? '');
    const session = await sessionOf(sessionId);
    expect(session).toMatchObject({ status: 'idle', needsAction: true, currentTurnId: turn.turnId });
    expect(JSON.parse(session?.stopReasonJson ?? '')).toEqual({
      type: 'requires_action',
      kind: 'tool_approval',
      blocking: [requestedEvent.event_id],
    });
    expect(approvals).toEqual([
      expect.objectContaining({
        approvalId: requestedEvent.data.approval_id,
        turnId: turn.turnId,
        kind: 'tool',
        toolUseId: 'call_1',
        toolName: 'count',
        inputJson: '{"by":"call_1"}',
        inputSha256: sha256('{"by":"call_1"}'),
        status: 'pending',
        decision: '',
        requestedBy: session?.agentId,
        expiresAt: new Date(clock.now().getTime() + 600_000),
      }),
    ]);
    expect(await claimTurns(system)).toEqual([]);
    const late = await sendReports(system, reportFor(turn, 2, { events: [toolResult('call_1')] }));
    expect(late).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
  });

  it('queues the turn with the decisions when all approvals are decided', async () => {
    const { sessionId, approvals } = await waiting('call_1', 'call_2');
    await decide(pending(approvals, 'call_2'), 'deny', { reason: 'not today' });
    expect(await claimTurns(system)).toEqual([]);
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', needsAction: true });
    const { approval } = await decide(pending(approvals, 'call_1'), 'allow');
    expect(approval).toMatchObject({ status: 'decided', decision: 'allow', decidedBy: OWNER.userId });
    expect(await sessionOf(sessionId)).toMatchObject({
      status: 'pending',
      needsAction: false,
      stopReasonJson: '',
    });

    const again = await claimTurn(system);
    expect(again).toMatchObject({ sessionId, attempt: 2 });
    expect(again.openCalls).toEqual([
      {
        toolUseId: 'call_1',
        dispatches: 0,
        decision: {
          kind: 'tool',
          decision: 'allow',
          reason: '',
          inputJson: '{"by":"call_1"}',
          inputSha256: sha256('{"by":"call_1"}'),
          edited: false,
          dispatches: 0,
        },
      },
      {
        toolUseId: 'call_2',
        dispatches: 0,
        decision: expect.objectContaining({ decision: 'deny', reason: 'not today' }),
      },
    ]);
    const report = createReporter(system, again);
    await report({ events: [toolDispatched('call_1', 1, again.fence)] });
    await report({ events: [toolResult('call_1'), toolResult('call_2', 'denied')] });
    await report({ events: agentMessage('msg_2', 'counted'), outcome: COMPLETED });
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', needsAction: false });
    const types = typesOf(await journalOf(system, sessionId));
    expect(types.filter((type) => type === 'user.tool_approval')).toHaveLength(2);
    expect(types.filter((type) => type === 'approval.decided')).toHaveLength(2);
  });

  it('returns the first decision when it is repeated and refuses a different one', async () => {
    const { sessionId, approvals } = await waiting('call_1', 'call_2');
    const pendingApproval = pending(approvals, 'call_1');
    const first = await decide(pendingApproval, 'deny', { reason: 'first' });
    const events = (await journalOf(system, sessionId)).length;
    const second = await decide(pendingApproval, 'deny', { reason: 'second' });
    expect(second).toEqual(first);
    expect(second.approval?.reason).toBe('first');
    await expect(decide(pendingApproval, 'allow')).rejects.toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
    });
    expect(await journalOf(system, sessionId)).toHaveLength(events);
  });

  it('accepts one of two concurrent decisions', async () => {
    const { sessionId, approvals } = await waiting('call_1');
    const approval = pending(approvals, 'call_1');
    const answers = await Promise.allSettled([decide(approval, 'allow'), decide(approval, 'deny')]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const types = typesOf(await journalOf(system, sessionId));
    expect(types.filter((type) => type === 'approval.decided')).toHaveLength(1);
    await claimTurn(system);
  });

  it('gives the runner an edited input and its digest', async () => {
    const { approvals } = await waiting('call_1');
    await decide(pending(approvals, 'call_1'), 'allow', { editedInputJson: '{ "by": 7 }' });
    const [call] = (await claimTurn(system)).openCalls;
    expect(call?.decision).toMatchObject({
      inputJson: '{"by":7}',
      inputSha256: sha256('{"by":7}'),
      edited: true,
    });
  });

  it('expires an approval that is not decided in time as denied by the system', async () => {
    const { sessionId, approvals } = await waiting('call_1', 'call_2');
    await decide(pending(approvals, 'call_1'), 'allow');
    clock.advance(600_001);
    const turn = await advanceUntil(
      'the turn goes on',
      () => clock.advance(300),
      async () => (await claimTurns(system, 1))[0],
    );
    expect(turn.openCalls.map(({ decision }) => decision?.decision)).toEqual(['allow', 'expired']);
    expect(await approvalsOf(sessionId, 'expired')).toMatchObject([{ decidedBy: '', decision: '' }]);
    const events = await journalOf(system, sessionId);
    const last = events.findLast(({ type }) => type === 'approval.decided');
    expect(JSON.parse(last?.json ?? '').data).toMatchObject({
      decision: 'deny',
      by: 'system',
      reason: 'expired',
    });
    expect(typesOf(events).filter((type) => type === 'user.tool_approval')).toHaveLength(1);
    await expect(decide(pending(approvals, 'call_2'), 'deny')).rejects.toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
    });
  });

  it('cancels pending approvals when the session is interrupted', async () => {
    const { sessionId, approvals } = await waiting('call_1');
    const { session } = await system.edge.interruptSession({ sessionId }, { caller });
    expect(session).toMatchObject({ status: 'idle', needsAction: false, currentTurnId: '' });
    expect(JSON.parse(session?.stopReasonJson ?? '')).toEqual({ type: 'interrupted' });
    expect(await approvalsOf(sessionId, 'cancelled')).toHaveLength(1);
    await expect(decide(approvals[0], 'allow')).rejects.toMatchObject({ code: 'APPROVAL_ALREADY_DECIDED' });
    await sendText(system, sessionId, 'go on');
    const next = await claimTurn(system);
    expect(next.messages.map(({ type }) => type)).toEqual([
      'user.message',
      'agent.message',
      'agent.tool_result',
      'user.message',
    ]);
    expect(next.openCalls).toEqual([]);
  });

  it('keeps a message in the queue behind the blocked turn', async () => {
    const { sessionId, turn, approvals } = await waiting('call_1');
    await sendText(system, sessionId, 'and then?');
    expect(await sessionOf(sessionId)).toMatchObject({
      status: 'pending',
      needsAction: true,
      queuedTurns: 1,
    });
    await expect(sendText(system, sessionId, 'now!', 'reject')).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
    expect(await claimTurns(system)).toEqual([]);
    await decide(approvals[0], 'allow');
    const first = await claimTurn(system);
    expect(first.turnId).toBe(turn.turnId);
    const report = createReporter(system, first);
    await report({ events: [toolDispatched('call_1', 1, first.fence)] });
    await report({ events: [toolResult('call_1'), ...agentMessage('msg_2', 'ok')], outcome: COMPLETED });
    expect((await claimTurn(system)).turnId).not.toBe(turn.turnId);
  });

  it('cancels pending approvals for a message with busy_policy interrupt', async () => {
    const { sessionId, turn } = await waiting('call_1');
    await sendText(system, sessionId, 'something else', 'interrupt');
    const next = await claimTurn(system);
    expect(next.turnId).not.toBe(turn.turnId);
    expect(await approvalsOf(sessionId, 'pending')).toEqual([]);
  });

  it('cancels pending approvals when the session is deleted', async () => {
    const { sessionId } = await waiting('call_1');
    await system.edge.deleteSession({ sessionId }, { caller });
    clock.advance(700_000);
  });

  it('gives the calls of a turn a result when its session is deleted after the decisions', async () => {
    const { sessionId, turn, approvals } = await waiting('call_1', 'call_2');
    await decide(pending(approvals, 'call_1'), 'allow');
    await decide(pending(approvals, 'call_2'), 'deny');
    const later = await sendText(system, sessionId, 'and then?', 'enqueue');
    const before = (await journalOf(system, sessionId)).length;
    await system.edge.deleteSession({ sessionId }, { caller });
    const [row] = await rowsOn<{ events: string }>(
      system.database.url,
      `select string_agg(substr(events, 2, length(events) - 2), ',' order by last_seq) as events
       from sessions.journal where session_id = '${sessionId}' and first_seq > ${before}`,
    );
    expect(JSON.parse(`[${row?.events}]`)).toMatchObject([
      { type: 'agent.tool_result', data: { tool_use_id: 'call_1', is_error: true } },
      { type: 'agent.tool_result', data: { tool_use_id: 'call_2', is_error: true } },
      { type: 'turn.interrupted', data: { turn_id: turn.turnId, attempt: 1 } },
      { type: 'turn.cancelled', data: { turn_id: later.turnId, reason: 'session_deleted' } },
      { type: 'session.deleted' },
    ]);
    expect(await claimTurns(system)).toEqual([]);
  });

  it('allows one more dispatch for each retry decision about a call with an unknown outcome', async () => {
    const sessionId = await begin('count');
    const first = await claimTurn(system);
    const report = createReporter(system, first);
    await report({ events: toolCallStep('msg_1', { id: 'call_1' }) });
    await report({ events: [toolDispatched('call_1', 1, first.fence)] });
    clock.advance(16_000);
    const second = await advanceUntil(
      'the turn is taken over',
      () => clock.advance(300),
      async () => (await claimTurns(system, 1, 'rnr_2'))[0],
    );
    expect(second.openCalls).toEqual([{ toolUseId: 'call_1', dispatches: 1, decision: undefined }]);
    await createReporter(system, second)({ outcome: blockedOn({ id: 'call_1', kind: 'outcome_unknown' }) });
    expect(JSON.parse((await sessionOf(sessionId))?.stopReasonJson ?? '')).toMatchObject({
      kind: 'outcome_unknown',
    });
    const [approval] = await approvalsOf(sessionId);
    await expect(decide(approval, 'allow')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await decide(approval, 'retry');
    const third = await claimTurn(system);
    expect(third.openCalls).toMatchObject([
      { dispatches: 1, decision: { kind: 'outcome_unknown', decision: 'retry', dispatches: 1 } },
    ]);
    const wrong = reportFor(third, 1, { events: [toolDispatched('call_1', 1, third.fence)] });
    expect(await sendReports(system, wrong)).toMatchObject([{ errorCode: 'INVALID_REQUEST' }]);
    await createReporter(
      system,
      third,
    )({ events: [toolDispatched('call_1', 2, third.fence), toolResult('call_1')] });
  });

  it('refuses other users, unknown approvals and invalid decisions', async () => {
    const { sessionId, approvals } = await waiting('call_1');
    const [approval] = approvals;
    const fields = { sessionId, approvalId: approval?.approvalId ?? '', reason: '', editedInputJson: '' };
    const refused = (request: object, code: string, as = OWNER) =>
      expect(
        system.edge.decideApproval({ ...fields, decision: 'deny', ...request }, { caller: as }),
      ).rejects.toMatchObject({ code });
    await refused({}, 'SESSION_NOT_FOUND', STRANGER);
    await refused({ approvalId: 'apr_nothing' }, 'APPROVAL_NOT_FOUND');
    await refused({ decision: 'retry' }, 'INVALID_REQUEST');
    await refused({ editedInputJson: '{}' }, 'INVALID_REQUEST');
    await refused({ decision: 'allow', editedInputJson: '{' }, 'INVALID_REQUEST');
    await expect(
      system.edge.listApprovals({ sessionId, status: '', page: undefined }, { caller: STRANGER }),
    ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});
