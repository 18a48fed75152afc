import { describe, expect, it } from 'vitest';
import { callForm } from '../../support/products/slack/client.ts';
import { SCOPES, startSlack } from '../../support/products/slack/server.ts';

const METADATA = { event_type: 'post', event_payload: { post_id: 'pst_1' } };

async function openThread(replies: number) {
  const slack = await startSlack();
  const { channels, users, postAs } = slack.workspace;
  const channel = channels.general;
  const { ts } = postAs(users.ada, channel, 'root');
  const call = (method: string, args: Record<string, unknown>) =>
    callForm(slack, method, { channel, ...args });
  const posted: string[] = [];
  for (let index = 0; index < replies; index++) {
    const args = { text: `${index}`, thread_ts: ts, metadata: METADATA };
    posted.push(String((await call('chat.postMessage', args)).ts));
  }
  return Object.assign(slack, { channel, ts, call, posted });
}
const texts = ({ messages }: Record<string, unknown>) =>
  (messages as { text: string }[]).map(({ text }) => text);

describe('Slack: conversations.replies', () => {
  it('returns the root, then the replies in order', async () => {
    await using slack = await openThread(2);
    const page = await slack.call('conversations.replies', { ts: slack.ts });
    expect(texts(page)).toEqual(['root', '0', '1']);
    expect(page.has_more).toBe(false);
    const [root, reply] = page.messages as unknown[];
    expect(root).toMatchObject({ thread_ts: slack.ts, reply_count: 2, latest_reply: slack.posted[1] });
    expect(reply).toMatchObject({ thread_ts: slack.ts, parent_user_id: slack.workspace.users.ada });
  });

  it('returns the payload of metadata only with include_all_metadata', async () => {
    await using slack = await openThread(1);
    const metadata = async (args: Record<string, unknown>) => {
      const page = await slack.call('conversations.replies', { ts: slack.ts, ...args });
      return (page.messages as { metadata?: unknown }[])[1]?.metadata;
    };
    expect(await metadata({ include_all_metadata: true })).toEqual(METADATA);
    expect(await metadata({})).toEqual({ event_type: 'post', event_payload: {} });
  });

  it('pages with a cursor', async () => {
    await using slack = await openThread(4);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await slack.call('conversations.replies', { ts: slack.ts, limit: 2, cursor });
      seen.push(...texts(page));
      cursor = String((page.response_metadata as { next_cursor?: string } | undefined)?.next_cursor ?? '');
      expect(page.has_more).toBe(cursor !== '');
    } while (cursor !== '');
    expect(seen).toEqual(['root', '0', '1', '2', '3']);
    const wrong = { ts: slack.ts, cursor: 'wrong' };
    expect(await slack.call('conversations.replies', wrong)).toMatchObject({ error: 'invalid_cursor' });
  });

  it('returns messages after oldest', async () => {
    await using slack = await openThread(3);
    const range = { ts: slack.ts, oldest: slack.posted[0] };
    expect(texts(await slack.call('conversations.replies', range))).toEqual(['root', '1', '2']);
  });

  it('returns a reply alone when its own timestamp is given', async () => {
    await using slack = await openThread(2);
    const page = await slack.call('conversations.replies', { ts: slack.posted[0] });
    expect(texts(page)).toEqual(['0']);
  });

  it('refuses an unknown root and a channel without the bot', async () => {
    await using slack = await openThread(0);
    const { channels, users, postAs } = slack.workspace;
    const unknown = { ts: '1.000001' };
    expect(await slack.call('conversations.replies', unknown)).toMatchObject({ error: 'thread_not_found' });
    const { channel, ts } = postAs(users.ada, channels.outside, 'a');
    expect(await slack.call('conversations.replies', { channel, ts })).toMatchObject({
      error: 'not_in_channel',
    });
  });
});

describe('Slack: channels and people', () => {
  it('describes public, private and direct conversations', async () => {
    await using slack = await startSlack();
    const { channels, users, directMessages } = slack.workspace;
    const info = async (channel: string) =>
      (await callForm(slack, 'conversations.info', { channel })).channel as Record<string, unknown>;
    expect(await info(channels.general)).toMatchObject({
      is_channel: true,
      is_private: false,
      is_member: true,
    });
    expect(await info(channels.outside)).toMatchObject({ is_member: false });
    expect(await info(channels.secret)).toMatchObject({ is_private: true, is_member: true });
    expect(await info(directMessages(users.ada))).toMatchObject({ is_im: true, user: users.ada });
  });

  it('opens the same direct messages each time', async () => {
    await using slack = await startSlack();
    const { users, directMessages } = slack.workspace;
    const open = (ids: string) => callForm(slack, 'conversations.open', { users: ids });
    expect(await open(users.ada)).toMatchObject({ ok: true, channel: { id: directMessages(users.ada) } });
    expect(await open('U0NONE')).toMatchObject({ error: 'user_not_found' });
    expect(await open(slack.botUser)).toMatchObject({ error: 'cannot_dm_bot' });
  });

  it('shows the e-mail of a user only with the scope users:read.email', async () => {
    await using slack = await startSlack();
    const profile = async () => {
      const { user } = await callForm(slack, 'users.info', { user: slack.workspace.users.ada });
      return (user as { profile: Record<string, unknown> }).profile;
    };
    expect(await profile()).not.toHaveProperty('email');
    slack.scopes.add('users:read.email');
    expect(await profile()).toMatchObject({ display_name: 'ada', email: 'ada@example.com' });
  });

  it('names another team for users of Slack Connect', async () => {
    await using slack = await startSlack();
    const id = slack.workspace.addUser('eve', { isExternal: true });
    const { user } = await callForm(slack, 'users.info', { user: id });
    expect(user).toMatchObject({ is_stranger: true, team_id: expect.stringMatching(/^T/) });
    expect(user).not.toMatchObject({ team_id: slack.workspace.teamId });
  });

  it('finds the bot, and refuses unknown users and bots', async () => {
    await using slack = await startSlack({ scopes: SCOPES });
    const bot = await callForm(slack, 'bots.info', { bot: slack.botId });
    expect(bot).toMatchObject({
      ok: true,
      bot: { id: slack.botId, app_id: slack.appId, user_id: slack.botUser },
    });
    expect(await callForm(slack, 'bots.info', { bot: 'B0' })).toMatchObject({ error: 'bot_not_found' });
    expect(await callForm(slack, 'users.info', { user: 'U0' })).toMatchObject({ error: 'user_not_found' });
  });
});
