import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { scheduleRequest } from '../schedules/fixtures.ts';
import { AGENT, FOREIGN_AGENT, NO_SCHEDULE, OWNER, STRANGER } from '../system.ts';
import { asOwner, type ChannelSystem, CREDENTIALS, openChannelSystem, refusal } from './channel-system.ts';

const DEFAULT_CONFIG = {
  respondTo: 'mentions',
  access: { mode: 'linked', people: { ids: [] }, places: { ids: [] }, allowExternal: false },
  owner: 'creator',
  approvers: { policy: 'owner', userIds: [] },
  busy: 'enqueue',
  edits: 'edit',
  showTools: 'status',
  perChat: true,
  filesIn: true,
  filesOut: true,
  trustEmail: false,
};

describe('management of channels', () => {
  let system: ChannelSystem;
  beforeAll(async () => {
    system = await openChannelSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    system.fakes.auditLog.takeActs();
    await system.sql('delete from deployments; delete from connections');
  });

  describe('CreateDeployment', () => {
    it.each([
      ['slack', 'socket', ['app_token', 'bot_token']],
      ['telegram', 'polling', ['bot_token']],
      ['discord', 'gateway', ['application_id', 'bot_token']],
    ] as const)('returns a %s channel with its defaults', async (provider, mode, names) => {
      const { deployment } = await system.create(provider, { metadata: { team: 'blue' } });
      expect(deployment).toMatchObject({
        ...{ type: 'channel', name: 'Support', status: 'enabled', revision: 1, metadata: { team: 'blue' } },
        ...{ agentName: 'Order desk', createdBy: OWNER.userId, triggerUrl: '', authenticationType: '' },
        channel: {
          provider,
          config: { mode, ...DEFAULT_CONFIG },
          connection: { mode, state: 'connecting', since: system.clock.now(), lastError: '', botName: '' },
          warnings: [],
          callbackUrl: `https://agents.example.org/api/v1/deployments/${deployment.deploymentId}/callback`,
        },
      });
      expect(deployment.channel?.credentials.map(({ name }) => name)).toEqual(names);
      expect(await system.read(deployment.deploymentId)).toEqual(deployment);
    });

    it('returns the generated secret of a channel for another product once', async () => {
      const { deployment, sharedSecret } = await system.create('http');
      expect(sharedSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(deployment.channel).toMatchObject({
        connection: { mode: 'pull', state: 'connected' },
        credentials: [{ name: 'shared_secret', hint: sharedSecret?.slice(-4) }],
      });
      expect(JSON.stringify(deployment)).not.toContain(sharedSecret);
    });

    it('shows only the last characters of credentials and stores them encrypted', async () => {
      const { deployment } = await system.create('slack');
      expect(deployment.channel?.credentials).toEqual([
        { name: 'app_token', hint: 'cret', updatedAt: system.clock.now() },
        { name: 'bot_token', hint: 'cret', updatedAt: system.clock.now() },
      ]);
      const rows = await system.sql('select * from channels');
      expect(JSON.stringify(rows)).not.toMatch(/xoxb-|slackbotsecret|appsecret/);
      expect(system.lines.join('')).not.toMatch(/slackbotsecret|appsecret/);
    });

    it('shows no part of a short credential', async () => {
      const { deployment } = await system.create('discord');
      expect(deployment.channel?.credentials[0]).toMatchObject({ name: 'application_id', hint: '' });
    });

    it('creates a channel without credentials, which waits for them', async () => {
      const { deployment } = await system.requestCreation('slack', { config: { mode: 'http' } as never });
      expect(deployment?.channel).toMatchObject({
        credentials: [],
        connection: {
          state: 'failed',
          lastError: 'Set the credentials that are missing: bot_token, signing_secret.',
        },
      });
      const credentials = CREDENTIALS.slackHttp;
      const { channel } = await system.update(deployment!.deploymentId, { credentials });
      expect(channel.connection).toMatchObject({ state: 'connecting', lastError: '' });
    });

    it('is repeated with the same key without a second channel and without the secret', async () => {
      const first = await system.requestCreation('http', { idempotencyKey: 'one' });
      const again = await system.requestCreation('http', { idempotencyKey: 'one' });
      expect(again).toEqual({
        ...{ deployment: first.deployment, replayed: true },
        ...{ sealedSharedSecret: undefined, sharedSecret: undefined },
      });
      const credentials = CREDENTIALS.telegram;
      await system.requestCreation('telegram', { idempotencyKey: 'two', credentials });
      expect(await system.requestCreation('telegram', { idempotencyKey: 'two', credentials })).toMatchObject({
        replayed: true,
      });
      await expect(system.requestCreation('telegram', { idempotencyKey: 'two' })).rejects.toMatchObject(
        refusal('IDEMPOTENCY_KEY_CONFLICT'),
      );
      expect(await system.sql('select from channels')).toHaveLength(2);
    });

    it.each([
      ['slack', 'bot_token', { ...CREDENTIALS.slack, bot_token: 'xoxp-1-2' }],
      ['slack', 'app_token', { bot_token: CREDENTIALS.slack.bot_token }],
      ['slack', 'public_key', { ...CREDENTIALS.slack, public_key: 'a'.repeat(64) }],
      ['telegram', 'bot_token', { bot_token: 'no-number' }],
      ['discord', 'application_id', { bot_token: CREDENTIALS.discord.bot_token }],
      ['discord', 'public_key', { ...CREDENTIALS.discord, public_key: 'a'.repeat(63) }],
      ['http', 'shared_secret', { shared_secret: 'whsec_mine' }],
    ])('refuses for %s the credential %s', async (provider, name, credentials) => {
      await expect(system.requestCreation(provider, { credentials })).rejects.toMatchObject(
        refusal('INVALID_REQUEST', `/credentials/${name}`),
      );
      expect(await system.sql('select from deployments')).toEqual([]);
    });

    it('does not repeat a refused credential', async () => {
      const credentials = { ...CREDENTIALS.slack, bot_token: 'misplacedsecret' };
      await expect(system.requestCreation('slack', { credentials })).rejects.toThrow(
        /^(?!.*misplacedsecret).*xoxb-/,
      );
      expect(system.lines.join('')).not.toContain('misplacedsecret');
    });

    it.each([
      ['/name', { name: ' ' }],
      ['/metadata', { metadata: { '': 'x' } }],
      ['/config/mode', { config: { mode: 'polling' } as never }],
    ])('refuses an invalid %s', async (pointer, more) => {
      await expect(system.create('slack', more)).rejects.toMatchObject(refusal('INVALID_REQUEST', pointer));
    });

    it('refuses an unknown provider and a missing one', async () => {
      await expect(system.requestCreation('irc')).rejects.toMatchObject(
        refusal('INVALID_REQUEST', '/provider'),
      );
      const request = { agentId: AGENT, type: 'channel', ...NO_SCHEDULE, name: 'x', idempotencyKey: '' };
      await expect(system.edge.createDeployment(request, asOwner)).rejects.toMatchObject(
        refusal('INVALID_REQUEST', '/provider'),
      );
    });

    it('refuses an agent that the caller does not manage', async () => {
      await expect(system.create('http', { agentId: FOREIGN_AGENT })).rejects.toMatchObject(
        refusal('AGENT_NOT_FOUND'),
      );
      system.fakes.agents.get(FOREIGN_AGENT)!.users = [OWNER.userId];
      await expect(system.create('http', { agentId: FOREIGN_AGENT })).rejects.toMatchObject(
        refusal('FORBIDDEN'),
      );
    });

    it('refuses the bot of another enabled channel', async () => {
      const { deploymentId } = await system.create('telegram');
      await expect(system.create('telegram')).rejects.toMatchObject(refusal('RESOURCE_IN_USE'));
      await system.disable(deploymentId);
      const second = await system.create('telegram');
      await expect(system.enable(deploymentId)).rejects.toMatchObject(refusal('RESOURCE_IN_USE'));
      await system.remove(second.deploymentId);
      expect((await system.enable(deploymentId)).deployment?.status).toBe('enabled');
    });
  });

  describe('UpdateDeployment', () => {
    it('changes name, metadata and settings and increments the revision', async () => {
      const { deploymentId, deployment } = await system.create('slack');
      const changed = await system.update(deploymentId, {
        ...{ name: 'Help', metadata: { a: 'b' }, revisions: [1] },
        config: {
          ...{ access: undefined, approvers: { policy: 'users', userIds: [STRANGER.userId] } },
          ...{ greeting: 'Hello', newSessionAfterIdleSeconds: 600, respondTo: 'all' },
        },
      });
      expect(changed).toMatchObject({ name: 'Help', metadata: { a: 'b' }, revision: 2 });
      expect(changed.channel.config).toEqual({
        ...deployment.channel?.config,
        ...{ approvers: { policy: 'users', userIds: [STRANGER.userId] }, respondTo: 'all' },
        ...{ greeting: 'Hello', newSessionAfterIdleSeconds: 600 },
      });
      expect(await system.read(deploymentId)).toEqual(changed);
      const removed = await system.update(deploymentId, {
        config: { access: undefined, approvers: undefined, greeting: '', newSessionAfterIdleSeconds: 0 },
      });
      expect(removed.channel.config).not.toMatchObject({ greeting: expect.anything() });
      expect(removed.channel.config?.newSessionAfterIdleSeconds).toBeUndefined();
    });

    it('replaces only the given credentials', async () => {
      const { deploymentId } = await system.create('slack');
      const before = system.clock.now();
      system.clock.advance(60_000);
      const { channel } = await system.update(deploymentId, {
        credentials: { app_token: 'xapp-1-A1-another9876' },
      });
      expect(channel.credentials).toEqual([
        { name: 'app_token', hint: '9876', updatedAt: system.clock.now() },
        { name: 'bot_token', hint: 'cret', updatedAt: before },
      ]);
    });

    it('refuses a mode whose credentials are missing', async () => {
      const { deploymentId } = await system.create('slack');
      const config = { mode: 'http', access: undefined, approvers: undefined };
      await expect(system.update(deploymentId, { config })).rejects.toMatchObject(
        refusal('INVALID_REQUEST', '/credentials/signing_secret'),
      );
      const credentials = { signing_secret: '0123456789abcdef' };
      const { channel } = await system.update(deploymentId, { config, credentials });
      expect(channel.config?.mode).toBe('http');
    });

    it('refuses the secret of a channel for another product and says how to replace it', async () => {
      const { deploymentId } = await system.create('http');
      const credentials = { shared_secret: 'whsec_c2VjcmV0' };
      await expect(system.update(deploymentId, { credentials })).rejects.toThrow('create a new channel');
    });

    it('refuses the bot of another enabled channel', async () => {
      await system.create('telegram');
      const { deploymentId } = await system.create('telegram', {
        credentials: { bot_token: '42:another-token' },
      });
      await expect(system.update(deploymentId, { credentials: CREDENTIALS.telegram })).rejects.toMatchObject(
        refusal('RESOURCE_IN_USE'),
      );
    });

    it('refuses another type, an old revision and the members of a schedule', async () => {
      const { deploymentId, reference } = await system.create('http');
      await expect(system.update(deploymentId, { type: 'schedule' })).rejects.toMatchObject(
        refusal('DEPLOYMENT_IMMUTABLE'),
      );
      await expect(system.update(deploymentId, { name: 'x', revisions: [7] })).rejects.toMatchObject(
        refusal('VERSION_CONFLICT'),
      );
      const schedule = { prompt: 'Work.', timing: undefined };
      await expect(
        system.edge.updateDeployment(
          { ...reference, schedule, metadata: undefined, ifRevisions: undefined },
          asOwner,
        ),
      ).rejects.toMatchObject(refusal('INVALID_REQUEST'));
    });

    it('refuses the members of a channel for a schedule', async () => {
      const { deployment } = await system.edge.createDeployment(scheduleRequest(), asOwner);
      const config = { greeting: 'Hello', access: undefined, approvers: undefined };
      await expect(system.update(deployment!.deploymentId, { config })).rejects.toMatchObject(
        refusal('INVALID_REQUEST', '/config'),
      );
    });
  });

  it('DeleteDeployment deletes a channel at the expected revision', async () => {
    const { deploymentId, reference } = await system.create('http');
    await expect(
      system.edge.deleteDeployment({ ...reference, ifRevisions: { revisions: [5] } }, asOwner),
    ).rejects.toMatchObject(refusal('VERSION_CONFLICT'));
    await system.remove(deploymentId);
    await expect(system.read(deploymentId)).rejects.toMatchObject(refusal('DEPLOYMENT_NOT_FOUND'));
    expect(await system.sql('select from channels')).toEqual([]);
    expect(await system.sql('select from connections')).toEqual([]);
  });

  it('EnableDeployment and DisableDeployment increment the revision only when the status changes', async () => {
    const { deploymentId } = await system.create('slack');
    expect((await system.enable(deploymentId)).deployment?.revision).toBe(1);
    const disabled = await system.disable(deploymentId);
    expect(disabled.deployment).toMatchObject({ status: 'disabled', revision: 2 });
    expect(disabled.deployment?.channel?.connection).toMatchObject({ state: 'off', lastError: '' });
    expect((await system.disable(deploymentId)).deployment?.revision).toBe(2);
    const enabled = await system.enable(deploymentId);
    expect(enabled.deployment?.channel?.connection?.state).toBe('connecting');
  });

  it('ListDeployments finds channels by name, type and status', async () => {
    const { deploymentId } = await system.create('slack', { name: 'Order desk in Slack' });
    await system.create('http');
    const list = async (filter: object) => {
      const all = { agentId: '', q: '', type: '', status: '', page: undefined };
      const { deployments } = await system.edge.listDeployments({ ...all, ...filter }, asOwner);
      return deployments.map((one) => one.deploymentId);
    };
    expect(await list({ q: 'in slack' })).toEqual([deploymentId]);
    expect(await list({ type: 'channel' })).toHaveLength(2);
    expect(await list({ type: 'schedule' })).toEqual([]);
    await system.disable(deploymentId);
    expect(await list({ type: 'channel', status: 'disabled' })).toEqual([deploymentId]);
  });

  it('shows a channel to managers of the agent and to no one else', async () => {
    const { deploymentId } = await system.create('slack');
    const reference = { agentId: AGENT, deploymentId };
    const asStranger = { caller: STRANGER };
    await expect(system.edge.getDeployment(reference, asStranger)).rejects.toMatchObject(
      refusal('DEPLOYMENT_NOT_FOUND'),
    );
    await expect(system.edge.getChannelSetup(reference, asStranger)).rejects.toMatchObject(
      refusal('DEPLOYMENT_NOT_FOUND'),
    );
    system.fakes.agents.get(AGENT)!.managers = [STRANGER.userId];
    const { deployment } = await system.edge.getDeployment(reference, asStranger);
    expect(deployment?.channel?.provider).toBe('slack');
    const disabled = await system.edge.disableDeployment(reference, asStranger);
    expect(disabled.deployment?.status).toBe('disabled');
  });

  it('records acts with the names of replaced credentials, without their values', async () => {
    const { deploymentId } = await system.create('slack');
    await system.update(deploymentId, { credentials: { app_token: 'xapp-1-A1-other' } });
    const actor = OWNER.userId;
    expect(system.fakes.auditLog.takeActs()).toEqual([
      `${actor} deployment.create ${deploymentId}`,
      `${actor} deployment.update ${deploymentId}`,
    ]);
    expect(system.fakes.auditLog.data.at(-1)).toEqual({ credentials: ['app_token'] });
  });

  it('refuses routes of channels for other types with NOT_A_CHANNEL, and of schedules with NOT_A_SCHEDULE', async () => {
    const { deployment } = await system.edge.createDeployment(scheduleRequest(), asOwner);
    const reference = { agentId: AGENT, deploymentId: deployment!.deploymentId };
    for (const ask of [system.edge.getChannelSetup, system.edge.probeChannel])
      await expect(ask(reference, asOwner)).rejects.toMatchObject(refusal('NOT_A_CHANNEL'));
    const channel = await system.create('http');
    await expect(
      system.edge.listUpcoming({ ...channel.reference, count: 1, from: undefined }, asOwner),
    ).rejects.toMatchObject(refusal('NOT_A_SCHEDULE'));
  });
});
