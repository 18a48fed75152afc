import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Approval } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import { passing } from '../../support/wait.ts';
import {
  COMPLETED,
  claim,
  claimOne,
  converse,
  journalOf,
  OWNER,
  openHouse,
  reportOn,
  STRANGER,
  say,
  send,
  typesOf,
} from './house.ts';
import { answering, asking, calling, dispatching, reporter, resulting } from './loop.ts';

const caller = OWNER;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each(TRANSPORTS)('approvals, %s', (transport) => {
  const clock = createFakeClock();
  let house: Awaited<ReturnType<typeof openHouse>>;
  beforeAll(async () => {
    house = await openHouse(transport, { clock });
  });
  /** Nothing that one test leaves behind is claimed by the next. */
  const begun: string[] = [];
  afterEach(async () => {
    expect(await brokenInvariants(house.database.url)).toEqual([]);
    for (const sessionId of begun.splice(0)) {
      await house.edge.deleteSession({ sessionId }, { caller }).catch(() => {});
    }
    expect(await brokenInvariants(house.database.url)).toEqual([]);
  });
  const begin = async (text: string) => {
    const sessionId = await converse(house, text);
    begun.push(sessionId);
    return sessionId;
  };
  afterAll(() => house[Symbol.asyncDispose]());

  const sessionOf = async (sessionId: string) =>
    (await house.edge.getSession({ sessionId }, { caller })).session;
  const approvalsOf = async (sessionId: string, status = ''): Promise<Approval[]> =>
    (await house.edge.listApprovals({ sessionId, status, page: { limit: 50, cursor: '' } }, { caller }))
      .approvals;
  const decide = (approval: Approval | undefined, decision: string, more: object = {}) =>
    house.edge.decideApproval(
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

  /** A session whose turn waits for decisions about these calls. */
  async function waiting(...ids: string[]) {
    const sessionId = await begin('count for me');
    const turn = await claimOne(house);
    const calls = ids.map((id) => ({ id, input: { by: id } }));
    await reporter(house, turn)({ events: calling('msg_1', ...calls), outcome: asking(...calls) });
    return { sessionId, turn, approvals: await approvalsOf(sessionId) };
  }

  it('are asked for by a turn, which then waits without a lease', async () => {
    const { sessionId, turn, approvals } = await waiting('call_1');
    const events = await journalOf(house, sessionId);
    expect(typesOf(events).slice(-4)).toEqual([
      'agent.tool_use',
      'approval.requested',
      'turn.blocked',
      'session.status_idle',
    ]);
    const asked = JSON.parse(events.at(-3)?.json ?? '');
    const session = await sessionOf(sessionId);
    expect(session).toMatchObject({ status: 'idle', needsAction: true, currentTurnId: turn.turnId });
    expect(JSON.parse(session?.stopReasonJson ?? '')).toEqual({
      type: 'requires_action',
      kind: 'tool_approval',
      blocking: [asked.event_id],
    });
    expect(approvals).toEqual([
      expect.objectContaining({
        approvalId: asked.data.approval_id,
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
    expect(await claim(house)).toEqual([]);
    const late = await send(house, reportOn(turn, 2, { events: [resulting('call_1')] }));
    expect(late).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
  });

  it('send the turn on when all are decided, with what was decided', async () => {
    const { sessionId, approvals } = await waiting('call_1', 'call_2');
    await decide(pending(approvals, 'call_2'), 'deny', { reason: 'not today' });
    expect(await claim(house)).toEqual([]);
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', needsAction: true });
    const { approval } = await decide(pending(approvals, 'call_1'), 'allow');
    expect(approval).toMatchObject({ status: 'decided', decision: 'allow', decidedBy: OWNER.userId });
    expect(await sessionOf(sessionId)).toMatchObject({
      status: 'pending',
      needsAction: false,
      stopReasonJson: '',
    });

    const again = await claimOne(house);
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
    const report = reporter(house, again);
    await report({ events: [dispatching('call_1', 1, again.fence)] });
    await report({ events: [resulting('call_1'), resulting('call_2', 'denied')] });
    await report({ events: answering('msg_2', 'counted'), outcome: COMPLETED });
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', needsAction: false });
    const types = typesOf(await journalOf(house, sessionId));
    expect(types.filter((type) => type === 'user.tool_approval')).toHaveLength(2);
    expect(types.filter((type) => type === 'approval.decided')).toHaveLength(2);
  });

  it('keep the first decision: the same again changes nothing, another one is refused', async () => {
    const { sessionId, approvals } = await waiting('call_1', 'call_2');
    const one = pending(approvals, 'call_1');
    const first = await decide(one, 'deny', { reason: 'first' });
    const events = (await journalOf(house, sessionId)).length;
    const second = await decide(one, 'deny', { reason: 'second' });
    expect(second).toEqual(first);
    expect(second.approval?.reason).toBe('first');
    await expect(decide(one, 'allow')).rejects.toMatchObject({ code: 'APPROVAL_ALREADY_DECIDED' });
    expect(await journalOf(house, sessionId)).toHaveLength(events);
  });

  it('are decided once by two who decide at the same time', async () => {
    const { sessionId, approvals } = await waiting('call_1');
    const one = pending(approvals, 'call_1');
    const answers = await Promise.allSettled([decide(one, 'allow'), decide(one, 'deny')]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const types = typesOf(await journalOf(house, sessionId));
    expect(types.filter((type) => type === 'approval.decided')).toHaveLength(1);
    await claimOne(house);
  });

  it('hand on an edited input, and its own digest', async () => {
    const { approvals } = await waiting('call_1');
    await decide(pending(approvals, 'call_1'), 'allow', { editedInputJson: '{ "by": 7 }' });
    const [call] = (await claimOne(house)).openCalls;
    expect(call?.decision).toMatchObject({
      inputJson: '{"by":7}',
      inputSha256: sha256('{"by":7}'),
      edited: true,
    });
  });

  it('count as denied when nobody decides, and as nobody’s decision', async () => {
    const { sessionId, approvals } = await waiting('call_1', 'call_2');
    await decide(pending(approvals, 'call_1'), 'allow');
    clock.advance(600_001);
    const turn = await passing(
      'the turn goes on',
      () => clock.advance(300),
      async () => (await claim(house, 1))[0],
    );
    expect(turn.openCalls.map(({ decision }) => decision?.decision)).toEqual(['allow', 'expired']);
    expect(await approvalsOf(sessionId, 'expired')).toMatchObject([{ decidedBy: '', decision: '' }]);
    const events = await journalOf(house, sessionId);
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

  it('are cancelled by an interrupt, and the session is usable', async () => {
    const { sessionId, approvals } = await waiting('call_1');
    const { session } = await house.edge.interruptSession({ sessionId }, { caller });
    expect(session).toMatchObject({ status: 'idle', needsAction: false, currentTurnId: '' });
    expect(JSON.parse(session?.stopReasonJson ?? '')).toEqual({ type: 'interrupted' });
    expect(await approvalsOf(sessionId, 'cancelled')).toHaveLength(1);
    await expect(decide(approvals[0], 'allow')).rejects.toMatchObject({ code: 'APPROVAL_ALREADY_DECIDED' });
    await say(house, sessionId, 'go on');
    const next = await claimOne(house);
    expect(next.messages.map(({ type }) => type)).toEqual([
      'user.message',
      'agent.message',
      'agent.tool_result',
      'user.message',
    ]);
    expect(next.openCalls).toEqual([]);
  });

  it('leave a message that is sent meanwhile in the queue, behind the turn that waits', async () => {
    const { sessionId, turn, approvals } = await waiting('call_1');
    await say(house, sessionId, 'and then?');
    expect(await sessionOf(sessionId)).toMatchObject({
      status: 'pending',
      needsAction: true,
      queuedTurns: 1,
    });
    await expect(say(house, sessionId, 'now!', 'reject')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    expect(await claim(house)).toEqual([]);
    await decide(approvals[0], 'allow');
    const first = await claimOne(house);
    expect(first.turnId).toBe(turn.turnId);
    const report = reporter(house, first);
    await report({ events: [dispatching('call_1', 1, first.fence)] });
    await report({ events: [resulting('call_1'), ...answering('msg_2', 'ok')], outcome: COMPLETED });
    expect((await claimOne(house)).turnId).not.toBe(turn.turnId);
  });

  it('give way to a message that interrupts', async () => {
    const { sessionId, turn } = await waiting('call_1');
    await say(house, sessionId, 'something else', 'interrupt');
    const next = await claimOne(house);
    expect(next.turnId).not.toBe(turn.turnId);
    expect(await approvalsOf(sessionId, 'pending')).toEqual([]);
  });

  it('go with a session that is deleted', async () => {
    const { sessionId } = await waiting('call_1');
    await house.edge.deleteSession({ sessionId }, { caller });
    clock.advance(700_000);
  });

  it('ask about a call whose outcome is unknown, once for each time it was sent', async () => {
    const sessionId = await begin('count');
    const first = await claimOne(house);
    const report = reporter(house, first);
    await report({ events: calling('msg_1', { id: 'call_1' }) });
    await report({ events: [dispatching('call_1', 1, first.fence)] });
    clock.advance(16_000);
    const second = await passing(
      'the turn is taken over',
      () => clock.advance(300),
      async () => (await claim(house, 1, 'rnr_2'))[0],
    );
    expect(second.openCalls).toEqual([{ toolUseId: 'call_1', dispatches: 1, decision: undefined }]);
    await reporter(house, second)({ outcome: asking({ id: 'call_1', kind: 'outcome_unknown' }) });
    expect(JSON.parse((await sessionOf(sessionId))?.stopReasonJson ?? '')).toMatchObject({
      kind: 'outcome_unknown',
    });
    const [approval] = await approvalsOf(sessionId);
    await expect(decide(approval, 'allow')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await decide(approval, 'retry');
    const third = await claimOne(house);
    expect(third.openCalls).toMatchObject([
      { dispatches: 1, decision: { kind: 'outcome_unknown', decision: 'retry', dispatches: 1 } },
    ]);
    const wrong = reportOn(third, 1, { events: [dispatching('call_1', 1, third.fence)] });
    expect(await send(house, wrong)).toMatchObject([{ errorCode: 'INVALID_REQUEST' }]);
    await reporter(house, third)({ events: [dispatching('call_1', 2, third.fence), resulting('call_1')] });
  });

  it('are refused to others, and for what does not go together', async () => {
    const { sessionId, approvals } = await waiting('call_1');
    const [approval] = approvals;
    const asked = { sessionId, approvalId: approval?.approvalId ?? '', reason: '', editedInputJson: '' };
    const refused = (request: object, code: string, as = OWNER) =>
      expect(
        house.edge.decideApproval({ ...asked, decision: 'deny', ...request }, { caller: as }),
      ).rejects.toMatchObject({ code });
    await refused({}, 'SESSION_NOT_FOUND', STRANGER);
    await refused({ approvalId: 'apr_nothing' }, 'APPROVAL_NOT_FOUND');
    await refused({ decision: 'retry' }, 'INVALID_REQUEST');
    await refused({ editedInputJson: '{}' }, 'INVALID_REQUEST');
    await refused({ decision: 'allow', editedInputJson: '{' }, 'INVALID_REQUEST');
    await expect(
      house.edge.listApprovals({ sessionId, status: '', page: undefined }, { caller: STRANGER }),
    ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});
