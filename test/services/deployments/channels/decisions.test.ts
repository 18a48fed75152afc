import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChannelConfig } from '../../../../services/deployments/domain/channels/channel.ts';
import { OWNER, STRANGER } from '../system.ts';
import {
  click,
  LINKED,
  OTHER_SESSION,
  openWorkSystem,
  SESSION,
  TURN,
  type WorkSystem,
} from './work-fixtures.ts';

const APPROVAL = 'apr_01M7XYC91CC5TE06JQWDWRTJVA';
const approvers = (policy: ChannelConfig['approvers']['policy'], userIds: string[] = []) => ({
  approvers: { policy, userIds },
});

describe('decisions in channels', () => {
  let system: WorkSystem;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    system.fakes.approvals.clear();
    await system.sql('delete from deployments');
    await system.sql('delete from links');
    system.setUser();
  });

  /** A conversation whose turn waits for an approval, with its post. U1 has sent the message. */
  async function openApproval(config: Partial<ChannelConfig>, approval = {}) {
    const channel = await system.createChannel(config);
    await system.link(channel);
    await system.receive(channel);
    await system.worker.accept();
    const [conversation] = await system.worker.claimConversations();
    await system.worker.note(conversation!, { kind: 'approval', key: APPROVAL });
    await system.worker.note(conversation!, {
      kind: 'approval',
      key: APPROVAL,
      state: 'posted',
      externalId: 'M1',
    });
    const ids = { approvalId: APPROVAL, sessionId: SESSION, turnId: TURN };
    system.fakes.approvals.add({ ...ids, ...approval }, OWNER.userId);
    return channel;
  }

  async function clicked(channel: string, decision = 'allow', senderId = 'U1') {
    await system.receive(channel, click(APPROVAL, decision, senderId));
    const [work] = await system.worker.claimDeliveries();
    if (!work) throw new Error('no click was claimed');
    const { deliveryId, fence } = work;
    const decide = () =>
      system.worker.client.decideFromChannel({ deliveryId, fence }, system.worker.options());
    return { work, decide };
  }

  async function decided(channel: string, decision = 'allow', senderId = 'U1') {
    const { work, decide } = await clicked(channel, decision, senderId);
    const response = await decide();
    await system.worker.finish(work, { sessionId: '', turnId: '' });
    return response;
  }

  const refused = (reason: string) => ({ outcome: 'refused', reason, decision: '', decidedBy: '' });

  it('are made by the linked user, on behalf of the owner of the session', async () => {
    const channel = await openApproval(approvers('users', [LINKED]));
    const { work, decide } = await clicked(channel);
    const response = { outcome: 'decided', reason: '', decision: 'allow', decidedBy: 'Uma Linked' };
    expect(await decide()).toEqual(response);
    expect(system.fakes.approvals.decisions).toEqual([
      {
        ...{ caller: OWNER.userId, decision: 'allow', decidedBy: LINKED, via: 'http:U1' },
        deliveryId: work.deliveryId,
      },
    ]);
    expect(await decide()).toEqual(response);
  });

  it('of strangers and of people without a link are refused', async () => {
    const channel = await openApproval(approvers('owner'));
    expect(await decided(channel, 'allow', 'U2')).toEqual(refused('not_linked'));
    expect(await decided(channel)).toEqual(refused('not_an_approver'));
    await system.link(channel, 'U3', STRANGER.userId);
    expect(await decided(channel, 'deny', 'U3')).toEqual(refused('no_access'));
    expect(system.fakes.approvals.decisions).toEqual([]);
  });

  it('follow the policy: the owner, managers, the initiator or named users', async () => {
    const owner = await openApproval(approvers('owner'));
    await system.link(owner, 'U9', OWNER.userId);
    expect(await decided(owner, 'allow', 'U9')).toMatchObject({ outcome: 'decided' });

    const managers = await openApproval(approvers('managers'));
    expect(await decided(managers)).toEqual(refused('not_an_approver'));
    system.setUser({ level: 'manage' });
    expect(await decided(managers)).toMatchObject({ outcome: 'decided' });

    system.setUser();
    const initiator = await openApproval(approvers('initiator'));
    await system.link(initiator, 'U9', OWNER.userId);
    expect(await decided(initiator, 'deny', 'U9')).toEqual(refused('not_an_approver'));
    expect(await decided(initiator, 'deny')).toMatchObject({ outcome: 'decided', decision: 'deny' });

    const named = await openApproval(approvers('users', [STRANGER.userId]));
    expect(await decided(named)).toEqual(refused('not_an_approver'));
  });

  it('of a user who was disabled or lost access between question and click are refused', async () => {
    const channel = await openApproval(approvers('users', [LINKED]));
    const { decide } = await clicked(channel);
    system.fakes.users.set(LINKED, { enabled: false });
    system.clock.advance(1_000);
    expect(await decide()).toEqual(refused('not_linked'));
    system.setUser({ level: 'none' });
    expect(await decide()).toEqual(refused('no_access'));
    await system.sql('delete from links');
    expect(await decide()).toEqual(refused('not_linked'));
    expect(system.fakes.approvals.decisions).toEqual([]);
  });

  it('that came first hold for later clicks', async () => {
    const channel = await openApproval(approvers('users', [LINKED, OWNER.userId]));
    await system.link(channel, 'U9', OWNER.userId);
    await decided(channel, 'deny');
    expect(await decided(channel, 'allow', 'U9')).toEqual({
      ...{ outcome: 'already_decided', reason: '', decision: 'deny', decidedBy: 'Uma Linked' },
    });
  });

  it('allow no input that is not shown whole, but deny it', async () => {
    const inputJson = JSON.stringify({ command: 'x'.repeat(2_500) });
    const channel = await openApproval(approvers('users', [LINKED]), { inputJson });
    expect(await decided(channel)).toEqual(refused('input_not_whole'));
    expect(await decided(channel, 'deny')).toMatchObject({ outcome: 'decided', decision: 'deny' });
  });

  it('are refused for other kinds, for approvals of other conversations, and after the expiry', async () => {
    const other = await openApproval(approvers('users', [LINKED]), { kind: 'outcome_unknown' });
    expect(await decided(other)).toEqual(refused('not_found'));
    const unknown = await system.createChannel(approvers('users', [LINKED]));
    await system.link(unknown);
    expect(await decided(unknown)).toEqual(refused('not_found'));
    const expired = await openApproval(approvers('users', [LINKED]), { status: 'expired' });
    expect(await decided(expired)).toEqual(refused('expired'));
  });

  it('reach the session that asked, after the conversation has begun another one', async () => {
    const channel = await openApproval(approvers('users', [LINKED]));
    await system.receive(channel);
    await system.worker.accept({ sessionId: OTHER_SESSION });
    expect(await decided(channel)).toMatchObject({ outcome: 'decided' });
  });

  it('of a worker that has lost the delivery are refused', async () => {
    const channel = await openApproval(approvers('users', [LINKED]));
    const { work, decide } = await clicked(channel);
    system.clock.advance(30_000);
    await system.otherWorker.claimDeliveries();
    await expect(decide()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(work.accessRefusal).toBe('');
  });
});
