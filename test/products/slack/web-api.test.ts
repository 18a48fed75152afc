import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { callForm } from '../../support/products/slack/client.ts';
import { startSlack } from '../../support/products/slack/server.ts';

describe('Slack: tokens and scopes', () => {
  it('answers auth.test with the ids of the workspace and the bot', async () => {
    await using slack = await startSlack();
    expect(await callForm(slack, 'auth.test')).toEqual({
      ok: true,
      url: 'https://example.slack.com/',
      team: 'example',
      user: 'agent',
      team_id: slack.workspace.teamId,
      user_id: slack.botUser,
      bot_id: slack.botId,
      is_enterprise_install: false,
    });
  });

  it.each([
    ['not_authed', ''],
    ['invalid_auth', 'xoxb-0-unknown'],
  ])('refuses a call with %s and status 200', async (error, token) => {
    await using slack = await startSlack();
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    const response = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', headers });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ok: false, error });
  });

  it('refuses an app token for the Web API and a bot token for apps.connections.open', async () => {
    await using slack = await startSlack();
    const refusal = { ok: false, error: 'not_allowed_token_type' };
    expect(await callForm(slack, 'auth.test', {}, slack.appToken)).toEqual(refusal);
    expect(await callForm(slack, 'apps.connections.open')).toEqual(refusal);
  });

  it('refuses a revoked token with the error of its end', async () => {
    await using slack = await startSlack();
    slack.uninstall();
    expect(await callForm(slack, 'auth.test')).toMatchObject({ error: 'account_inactive' });
    slack.setTokenError('token_revoked');
    expect(await callForm(slack, 'auth.test')).toMatchObject({ error: 'token_revoked' });
  });

  it('names the needed and the provided scopes in missing_scope', async () => {
    await using slack = await startSlack({ scopes: ['channels:read', 'users:read'] });
    const { channels } = slack.workspace;
    const post = { channel: channels.general, text: 'x' };
    expect(await callForm(slack, 'chat.postMessage', post)).toEqual({
      ok: false,
      error: 'missing_scope',
      needed: 'chat:write',
      provided: 'channels:read,users:read',
    });
    expect(await callForm(slack, 'conversations.info', { channel: channels.secret })).toMatchObject({
      needed: 'groups:read',
    });
  });

  it('names the granted and the accepted scopes in headers', async () => {
    await using slack = await startSlack({ scopes: ['chat:write', 'users:read'] });
    const { headers } = await fetch(`${slack.apiUrl}users.info`, {
      method: 'POST',
      headers: { authorization: `Bearer ${slack.botToken}` },
    });
    expect(headers.get('x-oauth-scopes')).toBe('chat:write,users:read');
    expect(headers.get('x-accepted-oauth-scopes')).toBe('users:read');
  });
});

describe('Slack: content types', () => {
  async function post(type: string | undefined, body: (token: string, channel: string) => string) {
    await using slack = await startSlack();
    const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
      method: 'POST',
      headers: {
        ...(type !== undefined && { 'content-type': type }),
        ...(type?.startsWith('application/json') && { authorization: `Bearer ${slack.botToken}` }),
      },
      body: Buffer.from(body(slack.botToken, slack.workspace.channels.general)),
    });
    return (await response.json()) as Record<string, unknown>;
  }

  it('accepts the token as a field of a form', async () => {
    const form = (token: string, channel: string) => `${new URLSearchParams({ token, channel, text: 'a' })}`;
    expect(await post('application/x-www-form-urlencoded', form)).toMatchObject({ ok: true });
  });

  it('accepts JSON, and warns when the charset is missing', async () => {
    const body = (_: string, channel: string) => JSON.stringify({ channel, text: 'a' });
    expect(await post('application/json; charset=utf-8', body)).not.toHaveProperty('warning');
    expect(await post('application/json', body)).toMatchObject({
      ok: true,
      warning: 'missing_charset',
      response_metadata: { warnings: ['missing_charset'] },
    });
  });

  it.each([
    ['missing_post_type', undefined, 'text=a'],
    ['invalid_post_type', 'text/csv', 'text=a'],
    ['invalid_json', 'application/json', '{'],
    ['invalid_json', 'application/json', '[]'],
  ])('refuses a body with %s', async (error, type, body) => {
    expect(await post(type, () => body)).toMatchObject({ ok: false, error });
  });

  it('answers an unknown method with unknown_method', async () => {
    await using slack = await startSlack();
    expect(await callForm(slack, 'chat.postMessages')).toEqual({ ok: false, error: 'unknown_method' });
  });
});

describe('Slack: faults', () => {
  it('answers a rate limit with 429, Retry-After and no effect', async () => {
    await using slack = await startSlack();
    const { channels, messages } = slack.workspace;
    slack.faults.enqueue('chat.postMessage', { kind: 'rate_limited', retryAfterSeconds: 30 });
    const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
      method: 'POST',
      headers: { authorization: `Bearer ${slack.botToken}` },
      body: new URLSearchParams({ channel: channels.general, text: 'a' }),
    });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('30');
    expect(await response.json()).toEqual({ ok: false, error: 'ratelimited' });
    expect(messages(channels.general)).toEqual([]);
  });

  it('posts a message whose response is cut off', async () => {
    await using slack = await startSlack();
    const { channels, messages } = slack.workspace;
    slack.faults.enqueue('chat.postMessage', { kind: 'applied_then_cut' });
    const call = callForm(slack, 'chat.postMessage', { channel: channels.general, text: 'a' });
    await expect(call).rejects.toThrow('fetch failed');
    expect(messages(channels.general)).toMatchObject([{ text: 'a', isBot: true }]);
    expect(slack.calls.map(({ method, status, fault }) => ({ method, status, fault }))).toEqual([
      { method: 'chat.postMessage', status: 'cut', fault: 'applied_then_cut' },
    ]);
  });

  it('answers a server error with HTML and no effect', async () => {
    await using slack = await startSlack();
    slack.faults.enqueue('chat.postMessage', { kind: 'server_error', status: 503 });
    const response = await fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST' });
    expect([response.status, response.headers.get('content-type')]).toEqual([503, 'text/html']);
    expect(slack.workspace.messages(slack.workspace.channels.general)).toEqual([]);
  });

  it('gives the same ids and faults for the same seed', async () => {
    async function run(seed: number) {
      await using slack = await startSlack({ seed, faults: { rate429: 0.3 } });
      const outcomes: boolean[] = [];
      for (let call = 0; call < 20; call++) outcomes.push((await callForm(slack, 'auth.test')).ok);
      return { outcomes, token: slack.botToken, channels: slack.workspace.channels };
    }
    expect(await run(5)).toEqual(await run(5));
    expect(await run(5)).not.toEqual(await run(6));
  });

  it('applies the published limits: one message per second and channel', async () => {
    const clock = createFakeClock();
    await using slack = await startSlack({ clock, hasRateLimits: true });
    const { general, secret } = slack.workspace.channels;
    const post = (channel: string) => callForm(slack, 'chat.postMessage', { channel, text: 'a' });
    expect(await post(general)).toMatchObject({ ok: true });
    expect(await post(general)).toMatchObject({ error: 'ratelimited' });
    expect(await post(secret)).toMatchObject({ ok: true });
    clock.advance(1_000);
    expect(await post(general)).toMatchObject({ ok: true });
  });
});
