import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPeerSealer, secretsIn } from '../../../../lib/grpc/sealed-for-peer.ts';
import { createIds } from '../../../../lib/ids.ts';
import type { ConnectionWork, WorkChannel } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { DeploymentsServiceDefinition } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { advanceUntil, until } from '../../../support/wait.ts';
import { type ChannelSystem, CREDENTIALS, openChannelSystem, refusal } from './channel-system.ts';

const LEASE_SECONDS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const IDENTITY = {
  botId: 'U1',
  botProfileId: 'B1',
  name: 'helper',
  appId: 'A1',
  teamId: 'T1',
  teamName: 'Team',
};
const NO_LISTS = { access: undefined, approvers: undefined };
const ONE = 'wrk_01M7XYC91CC5TE06JQWDWRTJVA';
const OTHER = 'wrk_01M7XYC91CC5TE06JQWDWRTJVB';

describe('connections of channels', () => {
  let system: ChannelSystem;
  beforeAll(async () => {
    system = await openChannelSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments; delete from connections');
  });

  const callOf = (method: 'claimWork' | 'reportConnection', requestId: string) =>
    ({ contract: DeploymentsServiceDefinition, method, peer: 'deployments', requestId }) as const;
  const sealer = () => createPeerSealer('channels', system.context.serviceSecret);

  /** The connections that a worker gets, with their credentials and resume states opened. */
  async function claim(workerId = ONE) {
    const requestId = createIds(system.clock)('req');
    const free = { connections: 10, conversations: 0, deliveries: 0 };
    const request = { workerId, ...free, waitMs: 0, leaseSeconds: LEASE_SECONDS };
    const { connections, channels } = await system.worker.claimWork(request, { requestId });
    const opened = callOf('claimWork', requestId);
    return connections.map((work: ConnectionWork) => {
      const channel = channels.find(({ deploymentId }) => deploymentId === work.deploymentId);
      if (!channel) throw new Error('the work has no channel');
      const secrets = Object.entries(secretsIn(sealer().open(channel.credentials, opened)));
      return {
        ...{ deploymentId: work.deploymentId, fence: work.fence, remove: work.remove, channel },
        credentials: Object.fromEntries(secrets.map(([name, secret]) => [name, secret.reveal()])),
        resumeState: work.resumeState && sealer().openBytes(work.resumeState, opened).toString(),
      };
    });
  }

  async function claimOne(workerId = ONE) {
    const [work] = await claim(workerId);
    if (!work) throw new Error('there is no connection to claim');
    return work;
  }

  interface Report {
    state: string;
    error?: string;
    identity?: WorkChannel['identity'];
    resumeState?: string;
  }

  async function report(
    { deploymentId, fence }: { deploymentId: string; fence: number },
    { state, error = '', identity, resumeState }: Report,
  ): Promise<void> {
    const requestId = createIds(system.clock)('req');
    const sealed =
      resumeState === undefined
        ? undefined
        : sealer().sealBytes(Buffer.from(resumeState), callOf('reportConnection', requestId));
    const request = { deploymentId, fence, state, error, identity, resumeState: sealed };
    await system.worker.reportConnection(request, { requestId });
  }

  const renew = async ({ deploymentId, fence }: { deploymentId: string; fence: number }, workerId = ONE) => {
    const lease = { kind: 'connection', deploymentId, conversation: '', fence };
    const request = { workerId, leaseSeconds: LEASE_SECONDS, leases: [lease] };
    return (await system.worker.renewLeases(request)).lost;
  };
  const connectionOf = async (deploymentId: string) => (await system.read(deploymentId)).channel.connection;

  it('are handed to one worker with the credentials of the channel', async () => {
    const { deploymentId, deployment } = await system.create('telegram');
    const work = await claimOne();
    expect(work).toMatchObject({
      ...{ deploymentId, remove: false, resumeState: undefined },
      credentials: { bot_token: CREDENTIALS.telegram.bot_token, webhook_secret: expect.any(String) },
      channel: {
        ...{ provider: 'telegram', revision: 1, createdBy: deployment.createdBy, agentName: 'Order desk' },
        ...{ callbackUrl: deployment.channel?.callbackUrl, config: deployment.channel?.config },
      },
    });
    expect(work.credentials.webhook_secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await claim(OTHER)).toEqual([]);
  });

  it('of the provider http need no worker', async () => {
    await system.create('http');
    expect(await claim()).toEqual([]);
  });

  it('show the bot and the state that the worker reports', async () => {
    const { deploymentId } = await system.create('slack');
    const work = await claimOne();
    system.clock.advance(1_000);
    await report(work, { state: 'connected', identity: IDENTITY });
    const connected = { state: 'connected', since: system.clock.now(), lastError: '', botName: 'helper' };
    expect(await connectionOf(deploymentId)).toMatchObject(connected);
    await report(work, { state: 'connecting', error: 'The connection was lost.' });
    expect(await connectionOf(deploymentId)).toMatchObject({
      ...{ state: 'connecting', lastError: 'The connection was lost.', botName: 'helper' },
    });
    expect(await renew(work)).toEqual([]);
  });

  it('pass to another worker when the lease of a killed worker has ended, with the state to resume', async () => {
    const { deploymentId } = await system.create('discord');
    const first = await claimOne();
    await report(first, { state: 'connected', identity: IDENTITY, resumeState: '{"seq":7}' });
    system.clock.advance(20_000);
    expect(await renew(first)).toEqual([]);
    system.clock.advance(20_000);
    expect(await claim(OTHER)).toEqual([]);
    system.clock.advance(10_000);
    expect((await connectionOf(deploymentId))?.state).toBe('connecting');
    const second = await claimOne(OTHER);
    expect(second).toMatchObject({ deploymentId, resumeState: '{"seq":7}', channel: { identity: IDENTITY } });
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(await renew(first)).toMatchObject([{ deploymentId, fence: first.fence }]);
    await expect(report(first, { state: 'connected' })).rejects.toMatchObject(refusal('LEASE_LOST'));
    const rows = await system.sql('select sealed_resume from connections');
    expect(JSON.stringify(rows)).not.toContain('seq');
  });

  it('pass to another worker at once when a stopping worker releases them', async () => {
    const { deploymentId } = await system.create('slack');
    const work = await claimOne();
    await report(work, { state: 'connected' });
    const lease = { kind: 'connection', deploymentId, conversation: '', fence: work.fence };
    await system.worker.releaseLease({ lease, toldSeq: 0 });
    expect((await connectionOf(deploymentId))?.state).toBe('connecting');
    expect((await claimOne(OTHER)).deploymentId).toBe(deploymentId);
  });

  it('of webhooks end their lease when they are registered', async () => {
    const config = { mode: 'http', access: undefined, approvers: undefined };
    const { deploymentId } = await system.create('telegram', { config });
    const work = await claimOne();
    await report(work, { state: 'connected', identity: IDENTITY });
    expect(await renew(work)).toHaveLength(1);
    system.clock.advance(DAY_MS);
    expect(await claim()).toEqual([]);
    expect((await connectionOf(deploymentId))?.state).toBe('connected');
  });

  it('that failed are not claimed again before the channel is changed', async () => {
    const { deploymentId } = await system.create('slack');
    const work = await claimOne();
    await report(work, { state: 'failed', error: 'The token was revoked.' });
    expect(await connectionOf(deploymentId)).toMatchObject({
      ...{ state: 'failed', lastError: 'The token was revoked.' },
    });
    system.clock.advance(DAY_MS);
    expect(await claim()).toEqual([]);
    expect(await renew(work)).toHaveLength(1);
    await system.update(deploymentId, { name: 'Renamed' });
    expect(await connectionOf(deploymentId)).toMatchObject({ state: 'connecting', lastError: '' });
    expect((await claimOne()).channel.revision).toBe(2);
  });

  it('end when settings or credentials change, and keep the state to resume of the same bot', async () => {
    const { deploymentId } = await system.create('discord');
    const first = await claimOne();
    await report(first, { state: 'connected', identity: IDENTITY, resumeState: 'seven' });
    await system.update(deploymentId, { name: 'Renamed' });
    expect(await renew(first)).toEqual([]);
    const config = { respondTo: 'all', access: undefined, approvers: undefined };
    await system.update(deploymentId, { config });
    expect(await renew(first)).toHaveLength(1);
    const second = await claimOne();
    expect(second).toMatchObject({
      resumeState: 'seven',
      channel: { revision: 3, config: { respondTo: 'all' } },
    });
    const credentials = { bot_token: 'another-bot-token-secret' };
    const { channel } = await system.update(deploymentId, { credentials });
    expect(channel.connection?.botName).toBe('');
    const third = await claimOne();
    expect(third.credentials).toEqual({ ...CREDENTIALS.discord, ...credentials });
    expect([third.resumeState, third.channel.identity]).toEqual([undefined, undefined]);
  });

  it('of another bot in Telegram have another webhook secret', async () => {
    const { deploymentId } = await system.create('telegram');
    const first = await claimOne();
    await system.update(deploymentId, { name: 'Renamed', config: { ...NO_LISTS, respondTo: 'all' } });
    const second = await claimOne();
    expect(second.credentials).toEqual(first.credentials);
    await system.update(deploymentId, { credentials: { bot_token: '42:another-token' } });
    const third = await claimOne();
    expect(third.credentials.webhook_secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(third.credentials.webhook_secret).not.toBe(first.credentials.webhook_secret);
  });

  it('are removed from the product when the channel is disabled, also with replaced credentials', async () => {
    const { deploymentId } = await system.create('telegram');
    const first = await claimOne();
    await report(first, { state: 'connected', identity: IDENTITY });
    await system.disable(deploymentId);
    expect(await renew(first)).toHaveLength(1);
    await system.update(deploymentId, { credentials: { bot_token: '42:another-token' } });
    const removal = await claimOne();
    expect(removal).toMatchObject({ remove: true, credentials: CREDENTIALS.telegram });
    await report(removal, { state: 'removed' });
    system.clock.advance(DAY_MS);
    expect(await claim()).toEqual([]);
    expect((await connectionOf(deploymentId))?.state).toBe('off');
    await system.enable(deploymentId);
    expect((await claimOne()).credentials.bot_token).toBe('42:another-token');
  });

  it('are removed from the product when the channel is deleted', async () => {
    const { deploymentId } = await system.create('discord');
    const first = await claimOne();
    await report(first, { state: 'connected', identity: IDENTITY });
    await system.remove(deploymentId);
    const removal = await claimOne(OTHER);
    expect(removal).toMatchObject({
      ...{ deploymentId, remove: true, credentials: CREDENTIALS.discord },
      channel: { provider: 'discord', config: { mode: 'gateway' } },
    });
    await report(removal, { state: 'connecting', error: 'The product did not answer.' });
    expect(await renew(removal, OTHER)).toEqual([]);
    await report(removal, { state: 'removed' });
    expect(await system.sql('select from connections')).toEqual([]);
  });

  it('are not removed for more than 24 hours', async () => {
    const { deploymentId } = await system.create('telegram');
    await claimOne();
    await system.remove(deploymentId);
    const removal = await claimOne();
    await report(removal, { state: 'connecting', error: 'The product did not answer.' });
    system.clock.advance(DAY_MS - 60_000);
    expect(await claim()).toHaveLength(1);
    await advanceUntil(
      'the removal has ended',
      () => system.clock.advance(20_000),
      async () => (await system.sql('select from connections')).length === 0,
    );
    expect(system.lines.join('')).toContain('could not be removed from its product for 24 hours');
    expect(await claim()).toEqual([]);
  });

  it('are counted by provider and state', async () => {
    await system.create('slack');
    await system.create('http');
    const text = await until('the gauges are measured', async () => {
      system.clock.advance(15_000);
      const exposition = await system.context.metrics.text();
      return exposition.includes('ahs_channel_connections{provider="slack",state="connecting"} 1')
        ? exposition
        : undefined;
    });
    expect(text).toContain('ahs_channel_connections{provider="http",state="connected"} 1');
    expect(text).toContain('ahs_channel_connections{provider="telegram",state="failed"} 0');
  });

  it('refuse an unknown state, an unknown channel and a fence that was never given', async () => {
    const { deploymentId } = await system.create('slack');
    const work = await claimOne();
    await expect(report(work, { state: 'on' })).rejects.toMatchObject(refusal('INVALID_REQUEST', '/state'));
    for (const lease of [
      { deploymentId: 'dep_1', fence: 1 },
      { deploymentId, fence: work.fence + 1 },
    ])
      await expect(report(lease, { state: 'connected' })).rejects.toMatchObject(refusal('LEASE_LOST'));
  });
});
