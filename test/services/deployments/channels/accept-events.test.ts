import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPeerSealer } from '../../../../lib/grpc/sealed-for-peer.ts';
import { createSealer } from '../../../../lib/sealing.ts';
import type { ChannelIdentity } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import {
  type DeploymentsServiceDefinition as Contract,
  DeploymentsServiceDefinition,
} from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { createChannelSealing } from '../../../../services/deployments/channels/channel-sealing.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { until } from '../../../support/wait.ts';
import { type DeploymentsSystem, openDeploymentsSystem, SEALING_KEY } from '../system.ts';
import {
  type ChannelReference,
  claimConnection,
  connectBot,
  IDENTITIES,
  listedDeliveries,
  storeChannel,
} from './fixtures.ts';

describe.each(TRANSPORTS)('AcceptEvents RPC, %s', (transport) => {
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const worker = () => system.connection.as('channels');

  /** The fence of the lease of each channel. */
  const fences = new Map<string, number>();

  /** Stores a channel whose connection is leased. Null: its worker has not reported the bot yet. */
  async function connected(
    provider: 'telegram' | 'slack' | 'discord' = 'telegram',
    identity: ChannelIdentity | null = IDENTITIES[provider],
  ) {
    const channel = await storeChannel(system, provider, { identity: null });
    const { deploymentId } = channel;
    const fence = identity
      ? await connectBot(system, deploymentId, identity)
      : await claimConnection(system, deploymentId);
    fences.set(deploymentId, fence);
    return channel;
  }

  const fenceOf = (deploymentId: string) => fences.get(deploymentId) ?? 0;

  function update(id: number, members: object = {}): string {
    const chat = { id: 11, type: 'private' };
    const message = {
      message_id: id,
      date: 1_700_000_000,
      chat,
      from: { id: 11, first_name: 'Ada' },
      text: 'hi',
    };
    return JSON.stringify({ update_id: id, message: { ...message, ...members } });
  }

  const accept = (
    deploymentId: string,
    eventsJson: string[],
    { fence = fenceOf(deploymentId), identity }: { fence?: number; identity?: ChannelIdentity } = {},
  ) => worker().acceptEvents({ deploymentId, fence, eventsJson, resumeState: undefined, identity });

  /** A message in a group that mentions the bot of IDENTITIES. */
  const MENTIONS = {
    slack: JSON.stringify({
      type: 'events_api',
      payload: {
        type: 'event_callback',
        ...{ api_app_id: IDENTITIES.slack.appId, team_id: IDENTITIES.slack.teamId },
        event: {
          ...{ type: 'message', user: 'U1', channel: 'C1', ts: '1700000000.000100' },
          text: `<@${IDENTITIES.slack.botId}> hi`,
        },
      },
    }),
    telegram: update(1, {
      chat: { id: -100, type: 'supergroup', title: 'Team' },
      text: `hi @${IDENTITIES.telegram.name}`,
      entities: [{ type: 'mention', offset: 3, length: IDENTITIES.telegram.name.length + 1 }],
    }),
    discord: JSON.stringify({
      t: 'MESSAGE_CREATE',
      d: {
        ...{ id: '1', channel_id: '2', guild_id: '3', author: { id: '4', username: 'ada' } },
        ...{ content: `<@${IDENTITIES.discord.botId}> hi`, mentions: [{ id: IDENTITIES.discord.botId }] },
      },
    }),
  };

  const listed = (reference: ChannelReference, result?: string) =>
    listedDeliveries(system, reference, result);

  it('commits events in their order with the time of the last one', async () => {
    const channel = await connected();
    await accept(channel.deploymentId, [update(1), update(2), update(3)]);
    const rows = await listed(channel, 'pending');
    expect(rows.map(({ conversation, sourceAddress }) => [conversation, sourceAddress])).toEqual([
      ['11', ''],
      ['11', ''],
      ['11', ''],
    ]);
    const keys = await system.sql<{ dedupe_key: string }>(
      'select dedupe_key from deliveries where deployment_id = $1 order by order_key',
      [channel.deploymentId],
    );
    expect(keys.map((row) => row.dedupe_key)).toEqual(['update:1', 'update:2', 'update:3']);
    const [connection] = await system.sql<{ last_event_at: Date | null }>(
      'select last_event_at from connections where deployment_id = $1',
      [channel.deploymentId],
    );
    expect(connection?.last_event_at).toBeInstanceOf(Date);
  });

  it('stores the events and the resume state together, sealed', async () => {
    const channel = await connected();
    const requestId = system.context.ids('req');
    const call = {
      contract: DeploymentsServiceDefinition,
      method: 'acceptEvents',
      peer: 'deployments',
      requestId,
    } as const;
    const sealer = createPeerSealer('channels', system.context.serviceSecret);
    const resumeState = sealer.sealBytes<typeof Contract>(Buffer.from('offset 7'), call);
    const request = {
      deploymentId: channel.deploymentId,
      fence: fenceOf(channel.deploymentId),
      eventsJson: [update(7)],
      resumeState,
      identity: undefined,
    };
    await worker().acceptEvents(request, { requestId });
    const [row] = await system.sql<{ sealed_resume: string }>(
      'select sealed_resume from connections where deployment_id = $1',
      [channel.deploymentId],
    );
    const sealing = createChannelSealing(createSealer(SEALING_KEY), system.context.serviceSecret);
    expect(sealing.openResume(row!.sealed_resume, channel.deploymentId)?.toString()).toBe('offset 7');
  });

  it('refuses events and stores none of them when another worker holds the lease', async () => {
    const channel = await connected();
    const fence = fenceOf(channel.deploymentId) - 1;
    await expect(accept(channel.deploymentId, [update(1)], { fence })).rejects.toMatchObject({
      code: 'LEASE_LOST',
    });
    expect(await listed(channel)).toEqual([]);
  });

  it('refuses events of a channel that is disabled or unknown', async () => {
    const channel = await connected();
    await system.sql(`update deployments set status = 'disabled' where deployment_id = $1`, [
      channel.deploymentId,
    ]);
    for (const id of [channel.deploymentId, system.context.ids('dep'), 'x'])
      await expect(accept(id, [update(1)])).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  it('lists repeated, ignored and malformed events, and commits the others', async () => {
    const channel = await connected();
    const events = [
      update(1),
      update(1),
      'no JSON',
      '{}',
      update(2, { from: { id: 5, is_bot: true } }),
      update(3),
    ];
    await accept(channel.deploymentId, events);
    await accept(channel.deploymentId, [update(3)]);
    expect(await listed(channel, 'pending')).toHaveLength(2);
    await until('the other events are listed', async () => (await listed(channel)).length === 7);
    const others = (await listed(channel)).filter(({ result }) => result !== 'pending');
    expect(others.map(({ result, reason }) => `${result} ${reason}`.trim()).toSorted()).toEqual([
      'duplicate',
      'duplicate',
      'ignored bot',
      'ignored malformed',
      'ignored malformed',
    ]);
  });

  it('counts messages of the bot itself in one row per minute', async () => {
    const channel = await connected();
    const own = { from: { id: Number(IDENTITIES.telegram.botId), is_bot: true } };
    await accept(channel.deploymentId, [update(1, own), update(2, own), update(2, own)]);
    await accept(channel.deploymentId, [update(3, own), update(4, { from: { id: 5, is_bot: true } })]);
    const sumOf = (rows: { count: number }[]) => rows.reduce((sum, { count }) => sum + count, 0);
    await until('the events are listed', async () => sumOf(await listed(channel)) === 5);
    const rows = await listed(channel, 'ignored');
    expect(rows.filter(({ reason }) => reason === 'bot')).toMatchObject([{ count: 1 }]);
    // The minute can change between the events.
    expect(rows.filter(({ reason }) => reason === 'own_message').length).toBeLessThanOrEqual(2);
  });

  it.each(['slack', 'telegram', 'discord'] as const)(
    'recognizes a mention of the bot of %s before its identity is stored',
    async (provider) => {
      const early = await connected(provider, null);
      const identity = IDENTITIES[provider];
      await accept(early.deploymentId, [MENTIONS[provider]], { identity });
      expect(await listed(early, 'pending')).toHaveLength(1);
    },
  );

  it.each(['slack', 'telegram', 'discord'] as const)(
    'refuses events of %s that cannot be compared with the bot, so that their worker does not acknowledge them',
    async (provider) => {
      const channel = await connected(provider, null);
      await expect(accept(channel.deploymentId, [MENTIONS[provider]])).rejects.toMatchObject({
        code: 'CHANNEL_NOT_READY',
      });
      expect(await listed(channel)).toEqual([]);
    },
  );

  it('recognizes mentions of the bot that received the events, not of the one before', async () => {
    const channel = await connected('telegram', { ...IDENTITIES.telegram, name: 'former_bot' });
    await accept(channel.deploymentId, [MENTIONS.telegram], { identity: IDENTITIES.telegram });
    expect(await listed(channel, 'pending')).toHaveLength(1);
  });

  it('stores the two events of Slack for one mention once', async () => {
    const channel = await connected('slack');
    const event = { user: 'U1', channel: 'C1', ts: '1700000000.000100', text: '<@U0BOT> hi' };
    const { appId: api_app_id, teamId: team_id } = IDENTITIES.slack;
    const envelopes = ['message', 'app_mention'].map((type) =>
      JSON.stringify({
        type: 'events_api',
        payload: { type: 'event_callback', api_app_id, team_id, event: { ...event, type } },
      }),
    );
    await accept(channel.deploymentId, envelopes);
    expect(await listed(channel, 'pending')).toHaveLength(1);
  });

  it('announces work to channel workers', async () => {
    const channel = await connected();
    const announced: string[] = [];
    const unsubscribe = system.context.bus.subscribe(
      'channels.work',
      (subject) => void announced.push(subject),
    );
    await accept(channel.deploymentId, [update(1)]);
    await until('the hint has arrived', async () => announced.includes(channel.deploymentId));
    unsubscribe();
  });
});
