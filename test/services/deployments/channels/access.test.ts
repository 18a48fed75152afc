import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InboundEvent } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ChannelConfig } from '../../../../services/deployments/domain/channels/channel.ts';
import { AGENT, OWNER } from '../system.ts';
import { asOwner, inPlace, LINKED, openWorkSystem, RETRY, type WorkSystem } from './work-fixtures.ts';

const access = (mode: 'linked' | 'list' | 'anyone', changes = {}): Partial<ChannelConfig> => ({
  access: { mode, people: [], places: [], allowExternal: false, ...changes },
});

describe('senders of channels', () => {
  let system: WorkSystem;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments');
    await system.sql('delete from links');
    system.setUser();
  });

  async function claim(channel: string, changes: Partial<InboundEvent> = {}) {
    await system.receive(channel, changes);
    const [work] = await system.worker.claimDeliveries();
    if (!work) throw new Error('no delivery was claimed');
    await system.worker.finish(work, { result: 'ignored', sessionId: '', turnId: '' });
    return work;
  }

  it('need a link to a user of the agent by default', async () => {
    const channel = await system.createChannel();
    expect(await claim(channel)).toMatchObject({ accessRefusal: 'not_linked', userId: '', agentVersion: 0 });
    await system.link(channel);
    expect(await claim(channel)).toMatchObject({
      ...{ accessRefusal: '', userId: LINKED, ownerId: OWNER.userId, agentVersion: 7 },
    });
    system.setUser({ level: 'none' });
    expect(await claim(channel)).toMatchObject({ accessRefusal: 'no_access' });
  });

  it('lose access within a second after their user was disabled, and the delivery names the user before', async () => {
    const channel = await system.createChannel();
    await system.link(channel);
    const { deliveryId } = await claim(channel);
    expect(await system.deliveryOf(deliveryId)).toMatchObject({ user_id: LINKED });
    system.fakes.users.set(LINKED, { enabled: false });
    system.clock.advance(1_000);
    expect(await claim(channel)).toMatchObject({ accessRefusal: 'user_disabled', userId: '' });
  });

  it('are allowed by the list of people and places, without a link', async () => {
    const channel = await system.createChannel(access('list', { people: ['U1'], places: ['C9'] }));
    expect(await claim(channel)).toMatchObject({ accessRefusal: '' });
    expect(await claim(channel, { senderId: 'U2' })).toMatchObject({ accessRefusal: 'not_listed' });
    expect(await claim(channel, { senderId: 'U2', place: inPlace('C9') })).toMatchObject({
      accessRefusal: '',
    });
  });

  it('of other organizations are refused unless the channel allows them', async () => {
    const closed = await system.createChannel(access('anyone'), 'slack');
    expect(await claim(closed, { isExternal: true })).toMatchObject({ accessRefusal: 'external_user' });
    await system.remove(closed);
    const open = await system.createChannel(access('anyone', { allowExternal: true }), 'slack');
    expect(await claim(open, { isExternal: true })).toMatchObject({ accessRefusal: '' });
  });

  it('own their sessions with the owner `sender`, and have none without a link', async () => {
    const channel = await system.createChannel({ ...access('anyone'), owner: 'sender' });
    expect(await claim(channel)).toMatchObject({ accessRefusal: '', ownerId: '', agentVersion: 0 });
    await system.link(channel);
    expect(await claim(channel)).toMatchObject({ accessRefusal: '', ownerId: LINKED, agentVersion: 7 });
    system.setUser({ level: 'none' });
    expect(await claim(channel)).toMatchObject({ accessRefusal: 'no_access' });
  });

  it('continue the session of another owner in a shared conversation', async () => {
    const channel = await system.createChannel({ ...access('anyone'), owner: 'sender' });
    await system.link(channel);
    await system.receive(channel);
    await system.worker.accept({ ownerId: LINKED });
    expect(await claim(channel, { senderId: 'U2' })).toMatchObject({ ownerId: LINKED, userId: '' });
  });

  it('cannot start a disabled agent', async () => {
    const channel = await system.createChannel(access('anyone'));
    system.fakes.agents.set(AGENT, { enabled: false, version: 7, name: 'Order desk', ownerId: OWNER.userId });
    system.context.bus.publish('agents.changed', AGENT);
    expect(await claim(channel)).toMatchObject({ accessRefusal: 'agent_disabled', agentVersion: 0 });
  });

  it('are approvers by the policy at this moment', async () => {
    const managers = await system.createChannel({ approvers: { policy: 'managers', userIds: [] } });
    await system.link(managers);
    expect(await claim(managers)).toMatchObject({ isApprover: false });
    system.setUser({ level: 'manage' });
    expect(await claim(managers)).toMatchObject({ isApprover: true });
    const named = await system.createChannel({ approvers: { policy: 'users', userIds: [LINKED] } });
    await system.link(named, 'U7');
    expect(await claim(named, { senderId: 'U7' })).toMatchObject({ isApprover: true });
  });

  it('are known by a verified e-mail only with trust_email', async () => {
    const senderEmail = 'Uma@example.org';
    system.fakes.users.set(LINKED, { enabled: true, email: 'uma@example.org' });
    system.fakes.users.set(OWNER.userId, { enabled: true, email: 'xuma@example.org' });
    const trusting = await system.createChannel({ trustEmail: true }, 'slack');
    expect(await claim(trusting, { senderEmail })).toMatchObject({ accessRefusal: '', userId: LINKED });
    await system.disable(trusting);
    const other = await system.createChannel({}, 'slack');
    expect(await claim(other, { senderEmail })).toMatchObject({ accessRefusal: 'not_linked' });
  });

  it('have a link that is listed and can be removed after they were known by their e-mail', async () => {
    system.fakes.users.set(LINKED, { enabled: true, email: 'uma@example.org' });
    const channel = await system.createChannel({ trustEmail: true }, 'slack');
    for (const senderEmail of ['uma@example.org', '']) {
      await system.receive(channel, { senderEmail });
      expect(await system.worker.accept()).toMatchObject({ userId: LINKED });
    }
    const request = { agentId: '', deploymentId: channel, page: undefined };
    const { links } = await system.edge.listLinks(request, asOwner);
    expect(links).toMatchObject([{ externalId: 'U1', userId: LINKED, how: 'email' }]);
    await system.edge.deleteLink({ agentId: '', deploymentId: channel, linkId: links[0]!.linkId }, asOwner);
    expect(await claim(channel)).toMatchObject({ accessRefusal: 'not_linked' });
  });

  it('are known by the e-mail that the product has told the worker', async () => {
    system.fakes.users.set(LINKED, { enabled: true, email: 'uma@example.org' });
    const channel = await system.createChannel({ trustEmail: true }, 'slack');
    await system.receive(channel);
    const { worker } = system;
    const [first] = await worker.claimDeliveries();
    expect(first).toMatchObject({ accessRefusal: 'not_linked', attempts: 1 });
    await worker.finish(first!, { ...RETRY, reason: 'sender_email', senderEmail: 'uma@example.org' });
    expect(await worker.claimDeliveries()).toMatchObject([
      { accessRefusal: '', userId: LINKED, attempts: 1, event: { senderEmail: 'uma@example.org' } },
    ]);
  });

  it('that cannot be checked are claimed again without a counted attempt', async () => {
    const channel = await system.createChannel();
    await system.link(channel);
    await system.receive(channel);
    const { agents } = system.fakes;
    const agent = agents.get(AGENT)!;
    Object.defineProperty(agent, 'users', {
      configurable: true,
      get() {
        throw new Error('the agents cannot be read');
      },
    });
    system.context.bus.publish('agents.changed', AGENT);
    expect(await system.worker.claimDeliveries()).toEqual([]);
    Object.defineProperty(agent, 'users', { value: [LINKED], writable: true });
    system.clock.advance(2_000);
    expect(await system.worker.claimDeliveries()).toMatchObject([{ attempts: 1, accessRefusal: '' }]);
  });

  it('get the channel with its settings and sealed credentials', async () => {
    const channel = await system.createChannel({ greeting: 'Welcome' });
    await system.receive(channel);
    const { channels } = await system.worker.claim();
    expect(channels).toMatchObject([
      {
        ...{ deploymentId: channel, agentId: AGENT, agentName: 'Order desk', provider: 'http', revision: 1 },
        createdBy: asOwner.caller.userId,
        callbackUrl: `https://agents.example.org/api/v1/deployments/${channel}/callback`,
        config: { greeting: 'Welcome', respondTo: 'mentions', access: { mode: 'linked' } },
      },
    ]);
    const request = { workerId: system.worker.workerId, waitMs: 0, leaseSeconds: 30 };
    const capacity = { connections: 0, conversations: 0, deliveries: 0 };
    expect(await system.worker.client.claimWork({ ...request, ...capacity }, {})).toMatchObject({
      channels: [],
    });
    expect(JSON.stringify(channels)).not.toContain('whsec_');
  });
});
