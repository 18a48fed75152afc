import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Approval, Ask, DecideApprovalRequest } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import { approvalsOf, authorizationAsk, blockTurn, inputAsk } from './call-approvals.ts';
import { CHANNEL, channelActor, LINKED_USER, newDeliveryId } from './channel-deliveries.ts';
import { trackSessions } from './created-sessions.ts';
import { actorOf, newRunId } from './deployment-runs.ts';
import {
  claimTurn,
  journalOf,
  OWNER,
  openReplica,
  openSystem,
  type SessionsSystem,
  STRANGER,
} from './system.ts';

const caller = OWNER;
const VIA = 'slack:U123';
const TOOL_ASK: Ask = { ...authorizationAsk('call_1'), kind: 'tool', detailsJson: undefined };
const OUTCOME_ASK: Ask = { ...TOOL_ASK, kind: 'outcome_unknown' };

describe.each(TRANSPORTS)('DecideApproval of a channel over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => {
    system.auth.failsToRecord = false;
    system.auth.takeActs();
    system.auth.data.length = 0;
  });

  const { track } = trackSessions(() => system);

  async function waiting(ask: Ask = TOOL_ASK) {
    const { sessionId, approvals } = await blockTurn(system, [ask]);
    const [approval] = approvals;
    if (!approval) throw new Error('no approval was requested');
    return { sessionId: track(sessionId), approval };
  }

  const requestFor = (
    { sessionId, approvalId }: Approval,
    more: Partial<DecideApprovalRequest> = {},
  ): DecideApprovalRequest => ({
    ...{ sessionId, approvalId, decision: 'allow', reason: '', editedInputJson: '' },
    ...{ actor: channelActor(newDeliveryId()), decidedBy: LINKED_USER, via: VIA },
    ...more,
  });
  const decide = async (
    approval: Approval,
    more: Partial<DecideApprovalRequest> = {},
    { deployments }: Pick<SessionsSystem, 'deployments'> = system,
  ) => (await deployments.decideApproval(requestFor(approval, more), { caller })).approval;

  it('records the decision as the one of the user who clicked, with the account', async () => {
    const { sessionId, approval } = await waiting();
    const actor = channelActor(newDeliveryId());
    const decided = await decide(approval, { actor });
    expect(decided).toMatchObject({
      ...{ status: 'decided', decision: 'allow', decidedBy: LINKED_USER, via: VIA },
    });
    expect(await approvalsOf(system, sessionId)).toEqual([decided]);
    const events = (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));
    expect(events.find(({ type }) => type === 'user.tool_approval')).toMatchObject({
      actor: { type: 'channel', id: CHANNEL },
    });
    expect(events.find(({ type }) => type === 'approval.decided').data).toEqual({
      ...{ approval_id: approval.approvalId, decision: 'allow', by: LINKED_USER, via: VIA },
    });
    expect(system.auth.takeActs()).toEqual([`${LINKED_USER} approval.decide ${sessionId}`]);
    expect(system.auth.data).toEqual([
      {
        ...{ approval_id: approval.approvalId, decision: 'allow', via: VIA, deployment_id: CHANNEL },
        delivery_id: actor.deliveryId,
      },
    ]);
    expect(await claimTurn(system)).toMatchObject({ sessionId, attempt: 2 });
  });

  it('is not audited when the owner of the session has decided', async () => {
    const { approval } = await waiting();
    expect(await decide(approval, { decision: 'deny', decidedBy: OWNER.userId })).toMatchObject({
      ...{ decision: 'deny', decidedBy: OWNER.userId, via: VIA },
    });
    expect(system.auth.takeActs()).toEqual([]);
  });

  it('returns the first decision to a second click, also of another user and with another decision', async () => {
    const { sessionId, approval } = await waiting();
    const first = await decide(approval, { decision: 'deny' });
    system.auth.takeActs();
    const others = [{}, { decision: 'deny' }, { decidedBy: OWNER.userId, via: 'discord:77' }];
    for (const more of others) expect(await decide(approval, more)).toEqual(first);
    expect(system.auth.takeActs()).toEqual([]);
    const decisions = (await journalOf(system, sessionId)).filter(({ type }) => type === 'approval.decided');
    expect(decisions).toHaveLength(1);
  });

  it('returns one decision to clicks that two processes receive at once', async () => {
    const { sessionId, approval } = await waiting();
    await using replica = await openReplica(transport, system.context);
    const answers = await Promise.all(
      [system, replica, system, replica].map((one, index) =>
        decide(approval, { decision: index < 2 ? 'allow' : 'deny', via: `slack:U${index}` }, one),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const decisions = (await journalOf(system, sessionId)).filter(({ type }) => type === 'approval.decided');
    expect(decisions).toHaveLength(1);
  });

  it('returns the decision of the owner in the console as it is', async () => {
    const ofConsole = await waiting();
    const { sessionId, approvalId } = ofConsole.approval;
    const request = { sessionId, approvalId, decision: 'deny', reason: '', editedInputJson: '' };
    await system.edge.decideApproval(request, { caller });
    const kept = await decide(ofConsole.approval);
    expect(kept).toMatchObject({ status: 'decided', decision: 'deny', decidedBy: OWNER.userId });
    expect(kept?.via).toBeUndefined();
  });

  it('returns a cancelled and an expired approval as it is', async () => {
    const interrupted = await waiting();
    await system.edge.interruptSession({ sessionId: interrupted.sessionId }, { caller });
    expect(await decide(interrupted.approval)).toMatchObject({ status: 'cancelled', decision: '' });

    const { sessionId, approval } = await waiting();
    await advanceUntil(
      'the approval has expired',
      () => clock.advance(60_000),
      async () => {
        const [found] = await approvalsOf(system, sessionId);
        return found?.status === 'expired';
      },
    );
    expect(await decide(approval)).toMatchObject({ status: 'expired', decision: '', decidedBy: '' });
  });

  it('decides nothing when the audit log cannot record it', async () => {
    const { sessionId, approval } = await waiting();
    system.auth.failsToRecord = true;
    await expect(decide(approval)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(await approvalsOf(system, sessionId)).toMatchObject([{ status: 'pending' }]);
  });

  it.each([
    ['an authorization', authorizationAsk('call_1'), 'authorization', 'deny'],
    ['an input', inputAsk('call_1'), 'input', 'decline'],
    ['an unknown outcome', OUTCOME_ASK, 'outcome_unknown', 'mark_done'],
  ])('refuses %s', async (_, ask, kind, decision) => {
    const { sessionId, approval } = await waiting(ask);
    await expect(decide(approval, { decision })).rejects.toMatchObject({
      ...{ code: 'INVALID_REQUEST', message: expect.stringContaining(`/approval_id is of kind ${kind}`) },
    });
    expect(await approvalsOf(system, sessionId)).toMatchObject([{ kind, status: 'pending' }]);
  });

  it.each<[string, Partial<DecideApprovalRequest>, string]>([
    ['another decision', { decision: 'retry' }, '/decision'],
    ['an edited input', { editedInputJson: '{}' }, '/edited_input'],
    ['content', { contentJson: '{}' }, '/content'],
    ['no user', { decidedBy: undefined }, '/decided_by'],
    ['no account', { via: undefined }, '/via'],
    ['an account of two lines', { via: 'slack:U1\nU2' }, '/via'],
    ['a schedule', { actor: actorOf(newRunId()) }, '/actor/type'],
    ['no delivery', { actor: channelActor('') }, '/actor/delivery_id'],
    ['no actor', { actor: undefined }, '/actor'],
  ])('refuses %s', async (_, fault, pointer) => {
    const { sessionId, approval } = await waiting();
    await expect(decide(approval, fault)).rejects.toMatchObject({
      ...{ code: 'INVALID_REQUEST', message: expect.stringContaining(pointer) },
    });
    expect(await approvalsOf(system, sessionId)).toMatchObject([{ status: 'pending' }]);
    expect(system.auth.takeActs()).toEqual([]);
  });

  it('is refused to users, and in the name of a user who does not own the session', async () => {
    const { sessionId, approval } = await waiting();
    const request = requestFor(approval);
    await expect(system.edge.decideApproval(request, { caller })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    for (const more of [{ via: undefined }, { decidedBy: undefined }])
      await expect(
        system.edge.decideApproval({ ...request, actor: undefined, ...more }, { caller }),
      ).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(system.deployments.decideApproval(request, { caller: STRANGER })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect(await approvalsOf(system, sessionId)).toMatchObject([{ status: 'pending' }]);
  });
});
