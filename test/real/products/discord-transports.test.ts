import { REST, RESTEvents } from '@discordjs/rest';
import { type SessionInfo, WebSocketManager, WebSocketShardEvents } from '@discordjs/ws';
import { describe, expect, it } from 'vitest';
import type { Discord } from '../../support/products/discord/server.ts';
import { until } from '../../support/wait.ts';
import { startWithChannel } from './discord-bot.ts';

const INTENTS = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15);

/** Connects as one of several processes that share the state of the session. */
async function connect({ apiUrl, application }: Discord, shared: { session: SessionInfo | null }) {
  const contents: string[] = [];
  const rest = new REST({ api: apiUrl, retries: 0 }).setToken(application.token);
  const manager = new WebSocketManager({
    ...{ token: application.token, intents: INTENTS, rest },
    retrieveSessionInfo: () => shared.session,
    updateSessionInfo: (_, session) => {
      shared.session = session;
    },
  });
  manager.on(WebSocketShardEvents.Dispatch, (payload) => {
    if (payload.t === 'MESSAGE_CREATE') contents.push(payload.d.content);
  });
  await manager.connect();
  return { manager, contents };
}

describe('WebSocketManager of @discordjs/ws', () => {
  it('resumes a session of another process with its stored state', async () => {
    await using system = await startWithChannel();
    const { discord, post } = system;
    const shared = { session: null };
    const first = await connect(discord, shared);
    post('one');
    await until('the message arrives', () => first.contents.includes('one'));
    // A process that was killed closes nothing and stores nothing.
    const stored: { session: SessionInfo | null } = structuredClone(shared);
    discord.gateway.disconnect();
    await first.manager.destroy();
    post('missed');
    const second = await connect(discord, stored);
    await until('the missed message arrives', () => second.contents.includes('missed'));
    expect(second.contents).toEqual(['missed']);
    await second.manager.destroy();
  });

  it('ends its session when it is destroyed without recovery', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const { manager } = await connect(discord, { session: null });
    await manager.destroy();
    await until('the session ends', () => discord.application.sessions.length === 0);
  });
});

describe('REST of @discordjs/rest', () => {
  it('surfaces limits without waiting, and server errors without a retry', async () => {
    await using system = await startWithChannel({ routeLimit: { requests: 2, seconds: 5 } });
    const { discord, channel } = system;
    const path = `/channels/${channel.id}/messages` as const;
    const rest = new REST({ api: discord.apiUrl, retries: 0, rejectOnRateLimit: () => true });
    rest.setToken(discord.application.token);
    const statuses: number[] = [];
    rest.on(RESTEvents.Response, (_, { status }) => statuses.push(status));
    discord.faults.enqueue('POST /channels/:channel/messages', { kind: 'server_error', status: 503 });
    const send = () => rest.post(path, { body: { content: 'a' } });
    await expect(send()).rejects.toMatchObject({ status: 503 });
    // The library learns the name of a bucket with the first response and its state with the second one.
    await send();
    await send();
    await expect(send()).rejects.toMatchObject({ limit: 2, global: false, retryAfter: expect.any(Number) });
    expect(statuses).toEqual([503, 200, 200]);
  });

  it('throws when the connection ends after the message was created', async () => {
    await using system = await startWithChannel();
    const { discord, channel, contents } = system;
    const rest = new REST({ api: discord.apiUrl, retries: 0 }).setToken(discord.application.token);
    discord.faults.enqueue('POST /channels/:channel/messages', { kind: 'applied_then_cut' });
    const body = { content: 'a', nonce: 'pst_1', enforce_nonce: true };
    const send = () => rest.post(`/channels/${channel.id}/messages`, { body });
    await expect(send()).rejects.toThrow();
    expect(await send()).toMatchObject({ nonce: 'pst_1' });
    expect(contents()).toEqual(['a']);
  });
});
