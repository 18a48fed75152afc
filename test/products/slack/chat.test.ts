import { describe, expect, it } from 'vitest';
import { callForm } from '../../support/products/slack/client.ts';
import { startSlack } from '../../support/products/slack/server.ts';

async function open() {
  const slack = await startSlack();
  const { general } = slack.workspace.channels;
  return Object.assign(slack, {
    general,
    call: (method: string, args: Record<string, unknown>) =>
      callForm(slack, method, { channel: general, ...args }),
  });
}
const BUTTON = {
  type: 'button',
  action_id: 'allow',
  text: { type: 'plain_text', text: 'Allow' },
  value: 'v',
};
const ACTIONS = [{ type: 'actions', elements: [BUTTON] }];
const METADATA = { event_type: 'post', event_payload: { post_id: 'pst_1' } };

describe('Slack: chat.postMessage', () => {
  it('returns the channel, the timestamp and the message of the bot', async () => {
    await using slack = await open();
    const posted = await slack.call('chat.postMessage', { text: 'hello', metadata: METADATA });
    expect(posted).toMatchObject({
      ok: true,
      channel: slack.general,
      ts: expect.stringMatching(/^\d{10}\.\d{6}$/),
      message: {
        type: 'message',
        text: 'hello',
        user: slack.botUser,
        bot_id: slack.botId,
        metadata: METADATA,
      },
    });
  });

  it('gives each message of a channel a later timestamp', async () => {
    await using slack = await open();
    for (let index = 0; index < 5; index++) await slack.call('chat.postMessage', { text: `${index}` });
    const times = slack.workspace.messages(slack.general).map(({ ts }) => ts);
    expect(times).toEqual([...new Set(times)].sort());
  });

  it('posts markdown_text of up to 12,000 characters', async () => {
    await using slack = await open();
    const markdown = '**a**'.padEnd(12_000, 'a');
    expect(await slack.call('chat.postMessage', { markdown_text: markdown })).toMatchObject({ ok: true });
    expect(slack.workspace.messages(slack.general)).toMatchObject([{ markdown }]);
    const tooLong = { markdown_text: `${markdown}a` };
    expect(await slack.call('chat.postMessage', tooLong)).toEqual({ ok: false, error: 'msg_too_long' });
  });

  it('refuses markdown_text beside text or blocks', async () => {
    await using slack = await open();
    const conflict = { ok: false, error: 'markdown_text_conflict' };
    expect(await slack.call('chat.postMessage', { markdown_text: 'a', text: 'a' })).toEqual(conflict);
    expect(await slack.call('chat.postMessage', { markdown_text: 'a', blocks: ACTIONS })).toEqual(conflict);
  });

  it('cuts a text after 40,000 characters without an error', async () => {
    await using slack = await open();
    expect(await slack.call('chat.postMessage', { text: 'a'.repeat(40_001) })).toMatchObject({ ok: true });
    expect(slack.workspace.messages(slack.general)[0]?.text).toHaveLength(40_000);
  });

  it('adds a block_id to blocks', async () => {
    await using slack = await open();
    await slack.call('chat.postMessage', { text: 'a', blocks: ACTIONS });
    expect(slack.workspace.messages(slack.general)[0]?.blocks).toEqual([
      { ...ACTIONS[0], block_id: expect.any(String) },
    ]);
  });

  it.each([
    ['a section of 3,001 characters', { type: 'section', text: { type: 'mrkdwn', text: 'a'.repeat(3_001) } }],
    ['an unknown type', { type: 'buttons' }],
    ['a value of 2,001 characters', { type: 'actions', elements: [{ ...BUTTON, value: 'a'.repeat(2_001) }] }],
    ['the same action_id twice', { type: 'actions', elements: [BUTTON, BUTTON] }],
    ['no element', { type: 'actions', elements: [] }],
  ])('refuses blocks with %s and names the place', async (_, block) => {
    await using slack = await open();
    expect(await slack.call('chat.postMessage', { text: 'a', blocks: [block] })).toEqual({
      ok: false,
      error: 'invalid_blocks',
      errors: [expect.stringContaining('[json-pointer:/blocks/0')],
      response_metadata: { messages: [expect.stringMatching(/^\[ERROR\] .*json-pointer/)] },
    });
  });

  it.each([
    ['channel_not_found', { channel: 'C0NONE', text: 'a' }],
    ['no_text', {}],
    ['no_text', { text: '' }],
    ['invalid_blocks_format', { blocks: '[' }],
    ['invalid_metadata_format', { text: 'a', metadata: { event_type: 'a' } }],
    [
      'metadata_too_large',
      { text: 'a', metadata: { event_type: 'a', event_payload: { a: 'a'.repeat(4_000) } } },
    ],
    ['msg_too_long', { blocks: [{ type: 'markdown', text: 'a'.repeat(12_001) }] }],
    ['msg_blocks_too_long', { blocks: Array(2).fill({ type: 'markdown', text: 'a'.repeat(7_000) }) }],
  ])('refuses %s', async (error, args) => {
    await using slack = await open();
    expect(await slack.call('chat.postMessage', args)).toMatchObject({ ok: false, error });
    expect(slack.workspace.messages(slack.general)).toEqual([]);
  });

  it('refuses a public channel without the bot, and hides a private one', async () => {
    await using slack = await open();
    const { channels, addChannel } = slack.workspace;
    const hidden = addChannel('hidden', { isPrivate: true, hasBot: false });
    const post = (channel: string) => slack.call('chat.postMessage', { channel, text: 'a' });
    expect(await post(channels.outside)).toMatchObject({ error: 'not_in_channel' });
    expect(await post(hidden)).toMatchObject({ error: 'channel_not_found' });
    slack.workspace.archive(slack.general);
    expect(await post(slack.general)).toMatchObject({ error: 'is_archived' });
  });

  it('posts to the direct messages of a user whose id is the channel', async () => {
    await using slack = await open();
    const { users, directMessages } = slack.workspace;
    const posted = await slack.call('chat.postMessage', { channel: users.ada, text: 'a' });
    expect(posted.channel).toBe(directMessages(users.ada));
    expect(posted.channel).toMatch(/^D/);
  });

  it('replies in the thread of the root when thread_ts is a reply', async () => {
    await using slack = await open();
    const { ts: root } = await slack.call('chat.postMessage', { text: 'root' });
    const { ts: reply } = await slack.call('chat.postMessage', { text: 'reply', thread_ts: root });
    await slack.call('chat.postMessage', { text: 'nested', thread_ts: reply });
    expect(slack.workspace.thread(slack.general, String(root)).map(({ text }) => text)).toEqual([
      'root',
      'reply',
      'nested',
    ]);
  });

  it('replies in the channel, without thread_ts and without an error, when the root is deleted', async () => {
    await using slack = await open();
    const { users, postAs, deleteAs, thread } = slack.workspace;
    const root = postAs(users.ada, slack.general, 'question');
    deleteAs(users.ada, root);
    const posted = await slack.call('chat.postMessage', { text: 'answer', thread_ts: root.ts });
    expect(posted).toMatchObject({ ok: true, message: { text: 'answer' } });
    expect(posted.message).not.toHaveProperty('thread_ts');
    expect(thread(slack.general, root.ts)).toEqual([]);
  });

  it('notifies people for <!channel> in text, blocks and markdown, and for @channel with link_names', async () => {
    await using slack = await open();
    const section = { type: 'section', text: { type: 'mrkdwn', text: '<!everyone>' } };
    for (const args of [
      { text: '<!channel> hi' },
      { text: 'a', blocks: [section] },
      { markdown_text: '<!here|here> hi' },
      { text: '@channel', link_names: true },
      { text: '@channel and a@here.org &lt;!channel&gt;' },
    ])
      await slack.call('chat.postMessage', args);
    const notified = slack.workspace.messages(slack.general).map(({ notifies }) => notifies);
    expect(notified).toEqual([['channel'], ['everyone'], ['here'], ['channel'], []]);
  });
});

describe('Slack: chat.update', () => {
  it('keeps the timestamp and the metadata, and removes blocks when only text is given', async () => {
    await using slack = await open();
    const { ts } = await slack.call('chat.postMessage', { text: 'a', blocks: ACTIONS, metadata: METADATA });
    expect(await slack.call('chat.update', { ts, text: 'b' })).toMatchObject({ ok: true, ts, text: 'b' });
    const [message] = slack.workspace.messages(slack.general);
    expect(message).toMatchObject({ ts, text: 'b', blocks: [], metadata: METADATA, isEdited: true });
  });

  it('keeps the text when only blocks are given, and does not show the message as edited', async () => {
    await using slack = await open();
    const { ts } = await slack.call('chat.postMessage', { text: 'a' });
    await slack.call('chat.update', { ts, blocks: ACTIONS });
    const [message] = slack.workspace.messages(slack.general);
    expect(message).toMatchObject({ text: 'a', blocks: [{ type: 'actions' }], isEdited: false });
  });

  it('removes metadata for an empty object', async () => {
    await using slack = await open();
    const { ts } = await slack.call('chat.postMessage', { text: 'a', metadata: METADATA });
    await slack.call('chat.update', { ts, text: 'b', metadata: {} });
    expect(slack.workspace.messages(slack.general)[0]).not.toHaveProperty('metadata');
  });

  it('refuses a text of more than 4,000 bytes and markdown_text of more than 12,000 characters', async () => {
    await using slack = await open();
    const { ts } = await slack.call('chat.postMessage', { text: 'a' });
    const update = (args: Record<string, string>) => slack.call('chat.update', { ts, ...args });
    expect(await update({ text: 'ä'.repeat(2_000) })).toMatchObject({ ok: true });
    expect(await update({ text: 'ä'.repeat(2_001) })).toMatchObject({ error: 'msg_too_long' });
    expect(await update({ markdown_text: 'ä'.repeat(12_000) })).toMatchObject({ ok: true });
    expect(await update({ markdown_text: 'ä'.repeat(12_001) })).toMatchObject({ error: 'msg_too_long' });
  });

  it('refuses messages of others and messages that do not exist', async () => {
    await using slack = await open();
    const { ts } = slack.workspace.postAs(slack.workspace.users.ada, slack.general, 'mine');
    expect(await slack.call('chat.update', { ts, text: 'b' })).toMatchObject({
      error: 'cant_update_message',
    });
    expect(await slack.call('chat.delete', { ts })).toMatchObject({ error: 'cant_delete_message' });
    const missing = { ts: '1.000001', text: 'b' };
    expect(await slack.call('chat.update', missing)).toMatchObject({ error: 'message_not_found' });
  });
});

describe('Slack: chat.delete', () => {
  it('removes a message, and leaves a tombstone for a root with replies', async () => {
    await using slack = await open();
    const { ts } = await slack.call('chat.postMessage', { text: 'root' });
    const { ts: reply } = await slack.call('chat.postMessage', { text: 'reply', thread_ts: ts });
    expect(await slack.call('chat.delete', { ts })).toEqual({ ok: true, channel: slack.general, ts });
    expect(slack.workspace.messages(slack.general).map(({ text }) => text)).toEqual([
      'This message was deleted.',
      'reply',
    ]);
    await slack.call('chat.delete', { ts: reply });
    expect(slack.workspace.messages(slack.general)).toHaveLength(1);
  });
});

describe('Slack: chat.postEphemeral', () => {
  it('shows a message to one member and keeps it out of the channel', async () => {
    await using slack = await open();
    const { users, ephemerals, messages } = slack.workspace;
    const posted = await slack.call('chat.postEphemeral', { user: users.ada, text: 'only you' });
    expect(posted).toEqual({ ok: true, message_ts: expect.any(String) });
    expect(ephemerals(slack.general, users.ada)).toMatchObject([{ text: 'only you' }]);
    expect(ephemerals(slack.general, users.grace)).toEqual([]);
    expect(messages(slack.general)).toEqual([]);
    const stranger = { user: 'U0NONE', text: 'a' };
    expect(await slack.call('chat.postEphemeral', stranger)).toMatchObject({ error: 'user_not_in_channel' });
    const update = { ts: posted.message_ts, text: 'b' };
    expect(await slack.call('chat.update', update)).toMatchObject({ error: 'message_not_found' });
  });
});
