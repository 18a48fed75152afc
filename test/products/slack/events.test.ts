import { describe, expect, it } from 'vitest';
import { callForm, connectSocket } from '../../support/products/slack/client.ts';
import { type SlackOptions, startSlack } from '../../support/products/slack/server.ts';

/** Starts a workspace with a connected app. `events` waits for the deliveries and returns the events. */
async function open(options: SlackOptions = {}) {
  const slack = await startSlack(options);
  const socket = await connectSocket(slack);
  const payloads = async () => {
    await slack.settled();
    return socket.received.filter(({ type }) => type === 'events_api').map(({ payload }) => payload);
  };
  const events = async () => (await payloads()).map(({ event }) => event ?? {});
  return Object.assign(slack, { payloads, events });
}

describe('Slack: events of messages', () => {
  it('wraps an event with the app, the team and the authorization of the bot', async () => {
    await using slack = await open();
    const { users, channels, postAs, teamId } = slack.workspace;
    const { ts } = postAs(users.ada, channels.general, 'hello');
    expect(await slack.payloads()).toEqual([
      {
        token: expect.any(String),
        team_id: teamId,
        context_team_id: teamId,
        context_enterprise_id: null,
        api_app_id: slack.appId,
        event: expect.objectContaining({ type: 'message', user: users.ada, text: 'hello', ts, event_ts: ts }),
        type: 'event_callback',
        event_id: expect.stringMatching(/^Ev/),
        event_time: expect.any(Number),
        authorizations: [expect.objectContaining({ user_id: slack.botUser, is_bot: true })],
        is_ext_shared_channel: false,
        event_context: expect.any(String),
      },
    ]);
  });

  it('sends a mention as message and as app_mention, with two event ids', async () => {
    await using slack = await open();
    const { users, channels, postAs } = slack.workspace;
    const { ts } = postAs(users.ada, channels.general, 'hello', { mention: true });
    const payloads = await slack.payloads();
    expect(payloads.map(({ event }) => [event?.type, event?.ts, event?.client_msg_id])).toEqual([
      ['message', ts, expect.any(String)],
      ['app_mention', ts, payloads[0]?.event?.client_msg_id],
    ]);
    expect(payloads[0]?.event).toMatchObject({ channel_type: 'channel', text: `<@${slack.botUser}> hello` });
    expect(payloads[1]?.event).not.toHaveProperty('channel_type');
    expect(payloads[0]?.event_id).not.toBe(payloads[1]?.event_id);
  });

  it('sends no app_mention for direct messages', async () => {
    await using slack = await open();
    const { users, directMessages, postAs } = slack.workspace;
    postAs(users.ada, directMessages(users.ada), 'hello', { mention: true });
    expect(await slack.events()).toMatchObject([{ type: 'message', channel_type: 'im' }]);
  });

  it('escapes the text of people', async () => {
    await using slack = await open();
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'a < b && <!channel>');
    expect(await slack.events()).toMatchObject([{ text: 'a &lt; b &amp;&amp; &lt;!channel&gt;' }]);
  });

  it('names the root of a reply and its author', async () => {
    await using slack = await open();
    const { users, channels, postAs } = slack.workspace;
    const { ts } = postAs(users.ada, channels.general, 'root');
    postAs(users.grace, channels.general, 'reply', { thread: ts });
    const [root, reply] = await slack.events();
    expect(root).not.toHaveProperty('thread_ts');
    expect(reply).toMatchObject({ user: users.grace, thread_ts: ts, parent_user_id: users.ada });
  });

  it('sends a reply that goes to the channel, too, as thread_broadcast', async () => {
    await using slack = await open();
    const { users, channels, postAs } = slack.workspace;
    const { ts } = postAs(users.ada, channels.general, 'root');
    postAs(users.ada, channels.general, 'reply', { thread: ts, broadcast: true, mention: true });
    expect((await slack.events()).slice(1)).toMatchObject([
      { type: 'message', subtype: 'thread_broadcast', thread_ts: ts, root: { ts } },
      { type: 'app_mention', thread_ts: ts },
    ]);
  });

  it('sends a message with files as file_share, without a team', async () => {
    await using slack = await open();
    const { users, channels, postAs } = slack.workspace;
    const files = [{ name: 'a.txt', bytes: 'a' }];
    postAs(users.ada, channels.general, 'see', { files, mention: true });
    const [message, mention] = await slack.events();
    expect(message).toMatchObject({ subtype: 'file_share', files: [{ name: 'a.txt', size: 1 }] });
    expect(message).not.toHaveProperty('team');
    expect(mention).toMatchObject({ type: 'app_mention', files: [{ name: 'a.txt' }] });
    expect(mention).not.toHaveProperty('subtype');
  });

  it('sends the messages of the bot to the bot, with its bot_id', async () => {
    await using slack = await open();
    const post = { channel: slack.workspace.channels.general, text: `<@${slack.botUser}>` };
    await callForm(slack, 'chat.postMessage', post);
    expect(await slack.events()).toMatchObject([
      { type: 'message', user: slack.botUser, bot_id: slack.botId, app_id: slack.appId },
    ]);
  });

  it('sends edits as message_changed with the earlier message', async () => {
    await using slack = await open();
    const { users, channels, postAs, editAs } = slack.workspace;
    const message = postAs(users.ada, channels.general, 'one', { mention: true });
    editAs(users.ada, message, 'two');
    expect((await slack.events()).at(-1)).toMatchObject({
      type: 'message',
      subtype: 'message_changed',
      message: { ts: message.ts, text: `<@${slack.botUser}> two`, edited: { user: users.ada } },
      previous_message: { ts: message.ts, text: `<@${slack.botUser}> one` },
    });
  });

  it('sends the updates of the bot to the bot, as message_changed', async () => {
    await using slack = await open();
    const channel = slack.workspace.channels.general;
    const { ts } = await callForm(slack, 'chat.postMessage', { channel, text: 'a' });
    await callForm(slack, 'chat.update', { channel, ts, text: 'b' });
    expect((await slack.events()).at(-1)).toMatchObject({
      subtype: 'message_changed',
      message: { ts, text: 'b', bot_id: slack.botId },
    });
  });

  it('sends other events in the same form', async () => {
    await using slack = await open();
    const { users, channels } = slack.workspace;
    slack.sendEvent({ type: 'reaction_added', user: users.ada, item: { channel: channels.general } });
    expect(await slack.payloads()).toMatchObject([
      { type: 'event_callback', event: { type: 'reaction_added', event_ts: expect.any(String) } },
    ]);
  });

  it('sends deletions as message_deleted', async () => {
    await using slack = await open();
    const { users, channels, postAs, deleteAs } = slack.workspace;
    const message = postAs(users.ada, channels.general, 'one');
    deleteAs(users.ada, message);
    expect((await slack.events()).at(-1)).toMatchObject({
      subtype: 'message_deleted',
      deleted_ts: message.ts,
      previous_message: { text: 'one' },
    });
  });

  it('sends nothing from channels without the bot or without a history scope', async () => {
    await using slack = await open({ scopes: ['channels:history', 'app_mentions:read'] });
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.outside, 'a', { mention: true });
    postAs(users.ada, channels.secret, 'b');
    postAs(users.ada, channels.general, 'c');
    expect(await slack.events()).toMatchObject([{ text: 'c' }]);
  });

  it('marks users of another workspace in shared channels', async () => {
    await using slack = await open();
    const { addUser, addChannel, postAs } = slack.workspace;
    const channel = addChannel('partners', { isExternal: true });
    postAs(addUser('eve', { isExternal: true }), channel, 'hi');
    const [payload] = await slack.payloads();
    expect(payload).toMatchObject({ is_ext_shared_channel: true, team_id: slack.workspace.teamId });
    expect(payload?.event?.user_team).not.toBe(slack.workspace.teamId);
  });

  it('sends tokens_revoked and app_uninstalled when the app is removed', async () => {
    await using slack = await open();
    slack.uninstall();
    expect((await slack.events()).map(({ type }) => type)).toEqual(['tokens_revoked', 'app_uninstalled']);
  });
});

describe('Slack: faults of deliveries', () => {
  it('repeats a message under the same and under another event id', async () => {
    await using slack = await open({ faults: { duplicate: 1 } });
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'one');
    postAs(users.ada, channels.general, 'two');
    const payloads = await slack.payloads();
    expect(payloads.map(({ event }) => event?.text)).toEqual(['one', 'one', 'two', 'two']);
    expect(new Set(payloads.map(({ event_id }) => event_id)).size).toBe(3);
  });

  it('sends a message after the next one of its channel', async () => {
    await using slack = await open({ faults: { reorder: 1 } });
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'one');
    postAs(users.ada, channels.general, 'two');
    expect((await slack.events()).map(({ text }) => text)).toEqual(['two', 'one']);
  });
});
