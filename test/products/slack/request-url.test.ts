import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import type { ProductRequest } from '../../support/products/http-server.ts';
import { callForm, startApp } from '../../support/products/slack/client.ts';
import type { Json } from '../../support/products/slack/objects.ts';
import { type SlackOptions, startSlack } from '../../support/products/slack/server.ts';
import { signatureHeaders } from '../../support/products/slack/signature.ts';
import { until } from '../../support/wait.ts';

async function open(options: SlackOptions = {}) {
  const app = await startApp();
  const slack = await startSlack(options);
  if (!(await slack.setRequestUrl(app.url))) throw new Error('the URL is not verified');
  const { users, channels, postAs } = slack.workspace;
  return {
    ...slack,
    app,
    post: (text: string) => postAs(users.ada, channels.general, text),
    async [Symbol.asyncDispose]() {
      await slack.close();
      await app[Symbol.asyncDispose]();
    },
  };
}
const retriesOf = (requests: ProductRequest[]) =>
  requests.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']]);

describe('Slack: request URL', () => {
  it('is verified by a challenge', async () => {
    await using slack = await startSlack();
    await using app = await startApp();
    expect(await slack.setRequestUrl(app.url)).toBe(true);
    expect(await slack.setRequestUrl(`${slack.origin}/another-server`)).toBe(false);
  });

  it('receives events as JSON, signed over the raw body', async () => {
    await using slack = await open();
    slack.post('grüße 🎉');
    await slack.settled();
    const [request] = slack.app.requests;
    const { headers, body } = request!;
    const base = `v0:${headers['x-slack-request-timestamp']}:${body}`;
    const digest = createHmac('sha256', slack.signingSecret).update(base).digest('hex');
    expect(headers['x-slack-signature']).toBe(`v0=${digest}`);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-slack-retry-num']).toBeUndefined();
    expect(JSON.parse(body.toString())).toMatchObject({ event: { text: 'grüße 🎉' } });
  });

  it('signs with the time in whole seconds', () => {
    const at = new Date('2026-01-01T00:00:00.900Z');
    expect(signatureHeaders('secret', '{}', at)['x-slack-request-timestamp']).toBe('1767225600');
  });
});

describe('Slack: retries of events', () => {
  it('are sent at once, after one and after five minutes, with their number and reason', async () => {
    const clock = createFakeClock();
    await using slack = await open({ clock });
    slack.app.respond = () => ({ status: 500 });
    slack.post('hello');
    for (const [count, wait] of [
      [1, 0],
      [2, 60_000],
      [3, 300_000],
    ] as const) {
      await until('the attempt has failed', () => slack.deliveries[count - 1]?.outcome === 'http_error');
      await slack.settled();
      clock.advance(wait - 1);
      await slack.settled();
      expect(slack.app.requests).toHaveLength(count);
      clock.advance(1);
      await until('the retry arrives', () => slack.app.requests.length === count + 1);
    }
    await until('the event is lost', () => slack.lost.length === 1);
    expect(retriesOf(slack.app.requests)).toEqual([
      [undefined, undefined],
      ['1', 'http_error'],
      ['2', 'http_error'],
      ['3', 'http_error'],
    ]);
  });

  it('repeat the same bytes with a new signature', async () => {
    await using slack = await open({ retryDelaysMs: [0] });
    slack.app.respond = () => ({ status: slack.app.requests.length > 1 ? 200 : 503 });
    slack.post('hello');
    await until('the retry arrives', () => slack.app.requests.length === 2);
    const [first, second] = slack.app.requests;
    expect(second?.body.equals(first!.body)).toBe(true);
    expect(second?.headers['x-slack-signature']).toMatch(/^v0=[0-9a-f]{64}$/);
    await slack.settled();
    expect(slack.lost).toEqual([]);
  });

  it('follow a response that takes longer than the limit, with http_timeout', async () => {
    await using slack = await open({ retryDelaysMs: [0], timeoutMs: 150 });
    slack.app.respond = ({ signal, headers }) =>
      headers['x-slack-retry-num']
        ? { status: 200 }
        : new Promise((resolve) => signal.addEventListener('abort', () => resolve('cut')));
    slack.post('hello');
    await until('the retry is accepted', () => slack.deliveries[1]?.outcome === 'accepted');
    expect(retriesOf(slack.app.requests)[1]).toEqual(['1', 'http_timeout']);
  });

  it('follow a connection that is cut, with connection_failed', async () => {
    await using slack = await open({ retryDelaysMs: [0] });
    slack.app.respond = ({ headers }) => (headers['x-slack-retry-num'] ? { status: 200 } : 'cut');
    slack.post('hello');
    await until('the retry is accepted', () => slack.deliveries.at(-1)?.outcome === 'accepted');
    expect(slack.deliveries.at(0)?.outcome).toBe('connection_failed');
  });

  it('end when the response has x-slack-no-retry: 1', async () => {
    await using slack = await open({ retryDelaysMs: [0, 0, 0] });
    slack.app.respond = () => ({ status: 500, headers: { 'x-slack-no-retry': '1' } });
    slack.post('hello');
    await until('the event is lost', () => slack.lost.length === 1);
    expect(slack.app.requests).toHaveLength(1);
  });

  it('follow more than two redirects', async () => {
    await using slack = await open({ retryDelaysMs: [] });
    let redirects = 2;
    slack.app.respond = () =>
      redirects-- > 0 ? { status: 302, headers: { location: '/slack/events' } } : { status: 200 };
    slack.post('two');
    await slack.settled();
    redirects = 3;
    slack.post('three');
    await slack.settled();
    expect(slack.deliveries.map(({ outcome }) => outcome)).toEqual(['accepted', 'too_many_redirects']);
  });
});

describe('Slack: interactions', () => {
  async function openButton(options: SlackOptions = {}) {
    const slack = await open(options);
    const { general } = slack.workspace.channels;
    const button = {
      type: 'button',
      action_id: 'allow',
      text: { type: 'plain_text', text: 'Allow' },
      value: 'ap_1',
    };
    const args = { channel: general, text: 'May I?', blocks: [{ type: 'actions', elements: [button] }] };
    const { ts } = await callForm(slack, 'chat.postMessage', args);
    await slack.settled();
    slack.app.requests.length = 0;
    const payload = () => {
      const form = new URLSearchParams(slack.app.requests.at(-1)?.body.toString());
      return JSON.parse(form.get('payload') ?? '') as Json & { response_url: string };
    };
    return { ...slack, message: { channel: general, ts: String(ts) }, payload };
  }
  const reply = (url: string, body: Json) => fetch(url, { method: 'POST', body: JSON.stringify(body) });

  it('arrive as a signed form with the payload of a click', async () => {
    await using slack = await openButton();
    const { click, users, teamId } = slack.workspace;
    const result = await click(users.grace, slack.message, 'allow');
    expect(result).toEqual({ isAcknowledged: true, response: '' });
    expect(slack.app.requests[0]?.headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-signature': expect.stringMatching(/^v0=/),
    });
    expect(slack.payload()).toMatchObject({
      type: 'block_actions',
      user: { id: users.grace, team_id: teamId },
      api_app_id: slack.appId,
      team: { id: teamId },
      channel: { id: slack.message.channel },
      container: { type: 'message', message_ts: slack.message.ts, is_ephemeral: false },
      message: { ts: slack.message.ts, text: 'May I?' },
      actions: [{ action_id: 'allow', type: 'button', value: 'ap_1', block_id: expect.any(String) }],
    });
  });

  it('have a new trigger id for each click', async () => {
    await using slack = await openButton();
    const { click, users } = slack.workspace;
    const triggers: unknown[] = [];
    for (const user of [users.ada, users.ada]) {
      await click(user, slack.message, 'allow');
      triggers.push(slack.payload().trigger_id);
    }
    expect(new Set(triggers).size).toBe(2);
  });

  it('are not sent for a button that the message does not have any more', async () => {
    await using slack = await openButton();
    const { click, users } = slack.workspace;
    await callForm(slack, 'chat.update', { ...slack.message, text: 'Allowed.' });
    await expect(click(users.ada, slack.message, 'allow')).rejects.toThrow('no button');
  });

  it('are not repeated when the app fails', async () => {
    await using slack = await openButton({ retryDelaysMs: [0, 0, 0] });
    slack.app.respond = () => ({ status: 500 });
    const { click, users } = slack.workspace;
    expect((await click(users.ada, slack.message, 'allow')).isAcknowledged).toBe(false);
    expect(slack.app.requests).toHaveLength(1);
  });

  it('can be answered at the response URL up to five times', async () => {
    await using slack = await openButton();
    const { click, users, messages, ephemerals } = slack.workspace;
    await click(users.ada, slack.message, 'allow');
    const { response_url } = slack.payload();
    await reply(response_url, { text: 'only you' });
    await reply(response_url, { replace_original: true, text: 'Allowed.' });
    await reply(response_url, { response_type: 'in_channel', text: 'for all' });
    await reply(response_url, { delete_original: true });
    expect((await reply(response_url, { text: 'five' })).status).toBe(200);
    expect((await reply(response_url, { text: 'six' })).status).toBe(404);
    expect(messages(slack.message.channel).map(({ text }) => text)).toEqual(['for all']);
    const shown = ephemerals(slack.message.channel, users.ada).map(({ text }) => text);
    expect(shown).toEqual(['only you', 'five']);
  });

  it('show the response of a command to its sender', async () => {
    await using slack = await open();
    const { command, users, channels, ephemerals } = slack.workspace;
    slack.app.respond = () => ({ status: 200, body: 'Started.' });
    await command(users.ada, '/agent new topic');
    const form = Object.fromEntries(new URLSearchParams(slack.app.requests[0]?.body.toString()));
    expect(form).toMatchObject({
      command: '/agent',
      text: 'new topic',
      user_id: users.ada,
      channel_id: channels.general,
      team_id: slack.workspace.teamId,
      api_app_id: slack.appId,
      response_url: expect.stringContaining('/commands/'),
    });
    expect(ephemerals(channels.general, users.ada)).toMatchObject([{ text: 'Started.' }]);
  });
});
