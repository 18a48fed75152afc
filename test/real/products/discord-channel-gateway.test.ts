import { describe, expect, it } from 'vitest';
import { discord as parser } from '../../../services/deployments/channels/products/discord/product.ts';
import { inboundEvent } from '../../../services/deployments/channels/products/inbound-event.ts';
import { IDENTITIES } from '../../services/deployments/channels/fixtures.ts';
import type { Discord } from '../../support/products/discord/server.ts';
import { until } from '../../support/wait.ts';
import { startWithChannel } from './discord-bot.ts';
import { channelPlace, createReceiver, openDiscordClient, post } from './discord-channel-client.ts';

const never = new AbortController().signal;
const APPROVAL = {
  approvalId: 'apr_01K0000000000000000000000A',
  tool: 'bash',
  inputJson: '{"command":"ls"}',
  canAllow: true,
  decision: '',
  decidedBy: '',
  consoleUrl: 'https://agents.example.com/sessions/ses_1',
};

async function connect(discord: Discord, resumeState?: string) {
  const client = await openDiscordClient(discord);
  const received = createReceiver(resumeState);
  const stop = new AbortController();
  const ended = client.connect(received.receiver, stop.signal);
  ended.catch(() => {});
  await until('the client is connected', () => received.state.connected > 0);
  return { ...received, client, ended, stop: () => stop.abort() };
}

describe('events of the gateway', () => {
  it('commits messages and resumes after the last committed one', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const first = await connect(discord);
    system.post('one');
    await until('the message is committed', () => first.contents().includes('one'));
    first.state.refusals = 1;
    system.post('two');
    await expect(first.ended).rejects.toThrow('the database is away');
    await until('the connection is closed', () => discord.gateway.connected() === 0);
    system.post('three');
    const second = await connect(discord, first.state.resumeState);
    await until('the missed messages are committed', () => second.contents().length >= 2);
    expect(second.contents()).toEqual(['two', 'three']);
    discord.gateway.requestReconnect();
    await second.ended;
    system.post('four');
    const third = await connect(discord, second.state.resumeState);
    await until('the last message is committed', () => third.contents().length > 0);
    expect(third.contents()).toEqual(['four']);
    expect(discord.application.remainingIdentifies).toBe(999);
    third.stop();
    await third.ended;
    await until('the connection is closed', () => discord.gateway.connected() === 0);
    expect(discord.application.sessions).toHaveLength(1);
  });

  it('resumes a session in which no message was committed yet', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const first = await connect(discord);
    expect(first.state.resumeState).toContain('sessionId');
    discord.gateway.disconnect();
    await first.ended;
    system.post('missed');
    const second = await connect(discord, first.state.resumeState);
    await until('the missed message is committed', () => second.contents().length > 0);
    expect(second.contents()).toEqual(['missed']);
    expect(discord.application.remainingIdentifies).toBe(999);
    second.stop();
  });

  it('begins a new session when the old one is invalid', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const first = await connect(discord);
    system.post('one');
    await until('the message is committed', () => first.contents().length > 0);
    discord.gateway.invalidate(false);
    await first.ended;
    expect(first.state.resumeState).toBe('');
    const second = await connect(discord, first.state.resumeState);
    system.post('two');
    await until('the message is committed', () => second.contents().length > 0);
    second.stop();
  });

  it('names a refused token and a missing intent, and goes nowhere else', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const receiver = () => createReceiver().receiver;
    const client = await openDiscordClient(discord);
    discord.application.privilegedIntents = 0;
    await expect(client.connect(receiver(), never)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('Message Content Intent'),
    });
    discord.overrides.gatewayUrl = 'ws://example.org/';
    await expect(client.connect(receiver(), never)).rejects.toMatchObject({ kind: 'unavailable' });
    discord.overrides.gatewayUrl = `${new URL(discord.apiUrl).origin.replace('http', 'ws')}/nothing`;
    await expect(client.connect(receiver(), never)).rejects.toMatchObject({ kind: 'unavailable' });
    discord.overrides.gatewayUrl = undefined;
    discord.application.privilegedIntents = 1 << 15;
    const running = await connect(discord);
    discord.resetToken(discord.application);
    await expect(running.ended).rejects.toMatchObject({ kind: 'unauthorized' });
    await expect(client.connect(receiver(), never)).rejects.toMatchObject({ kind: 'unauthorized' });
    const proxied = await openDiscordClient(discord, { proxy: 'http://127.0.0.1:9' });
    await expect(proxied.connect(receiver(), never)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('SERVICE_CHANNELS_PROXY'),
    });
  });

  it('ends a connection whose heartbeats are not acknowledged', async () => {
    await using system = await startWithChannel({ heartbeatMs: 300 });
    const { discord } = system;
    const running = await connect(discord);
    discord.gateway.acknowledgesHeartbeats = false;
    await running.ended;
  });

  it('commits every event once while the product repeats and reorders them', async () => {
    await using system = await startWithChannel({ seed: 3, faults: { duplicate: 0.3, reorder: 0.3 } });
    const { discord } = system;
    const running = await connect(discord);
    const texts = Array.from({ length: 12 }, (_, index) => `message ${index}`);
    for (const text of texts) system.post(text);
    await until('all are committed', () => new Set(running.contents()).size === texts.length);
    const keys = running.state.events.map((event) => {
      const parsed = parser.parse(event, IDENTITIES.discord);
      return 'event' in parsed ? parsed.event?.dedupeKey : undefined;
    });
    expect(new Set(keys.filter(Boolean)).size).toBe(texts.length);
    running.stop();
  });
});

describe('interactions of the gateway', () => {
  it('defers clicks and commands after their commit, and answers their sender alone', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel } = system;
    const running = await connect(discord);
    const { client } = running;
    await client.register(never);
    const parsed = (index: number) => {
      const result = parser.parse(running.state.events.filter(({ t }) => t === 'INTERACTION_CREATE')[index], {
        ...{ botId: discord.application.bot.id, botProfileId: '', name: '', teamId: '', teamName: '' },
        appId: discord.application.id,
      });
      return 'event' in result && result.event ? result.event : inboundEvent({});
    };
    const place = channelPlace(channel.id);
    const asked = post({ place, kind: 'approval', markdown: 'Run bash?', approval: APPROVAL });
    const id = await client.createPost(asked, never);
    const click = discord.click(ada, channel, discord.messages(channel).at(-1)!, 'Allow');
    await until('the click is deferred', () => click.state === 'answered' && click.callbackType === 6);
    const clicked = parsed(0);
    expect(clicked).toMatchObject({
      ...{ kind: 'action', decision: 'allow', approvalId: APPROVAL.approvalId, messageExternalId: id },
    });
    await client.answer(clicked, 'You have allowed the call.', never);
    const decided = { ...APPROVAL, decision: 'allowed', decidedBy: 'Ada' };
    await client.editPost(id, { ...asked, markdown: 'Allowed by Ada.', approval: decided }, never);
    expect(discord.messages(channel)).toMatchObject([{ content: 'Allowed by Ada.', components: [] }]);
    expect(discord.messages(channel, true).at(-1)?.content).toBe('You have allowed the call.');

    const link = discord.runCommand(ada, channel, 'link');
    await until('the command is deferred', () => link.state === 'deferred');
    expect(parsed(1)).toMatchObject({ kind: 'command', command: 'link' });
    await client.answer(parsed(1), 'https://agents.example.com/link/secret', never);
    const ask = discord.runCommand(ada, channel, 'ask', { prompt: 'Why?' });
    await until('the command is deferred', () => ask.state === 'deferred');
    expect(parsed(2)).toMatchObject({ kind: 'message', text: 'Why?' });
    await client.answer(parsed(2), '', never);
    expect(ask.state).toBe('answered');
    expect(discord.messages(channel)).toHaveLength(1);
    expect(discord.messages(channel, true).at(-1)?.content).toContain('secret');
    running.stop();
  });
});
