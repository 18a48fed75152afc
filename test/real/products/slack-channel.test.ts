import { afterEach, describe, expect, it } from 'vitest';
import { slackBotScopes } from '../../../lib/product-permissions.ts';
import type { InboundFile } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { PostApproval } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { slackRules } from '../../../services/channels/products/slack/rules.ts';
import { slack as parser } from '../../../services/deployments/channels/products/slack/product.ts';
import { openChannelClient, postFor, productErrorOf } from '../../support/products/slack/channel-client.ts';
import { callForm, connectSocket } from '../../support/products/slack/client.ts';
import type { AttachedFile } from '../../support/products/slack/participants.ts';
import { type SlackOptions, type SlackServer, startSlack } from '../../support/products/slack/server.ts';
import { until } from '../../support/wait.ts';

const { signal } = new AbortController();
const SCOPES = slackBotScopes({ filesIn: true, filesOut: true, trustEmail: false });
const APPROVAL: PostApproval = {
  ...{ approvalId: 'apr_1', tool: 'deploy', inputJson: '{"note": "<!channel> & ```"}', canAllow: true },
  ...{ decision: '', decidedBy: '', consoleUrl: 'https://agents.example.org/sessions/ses_1' },
};
const file = (members: Partial<InboundFile>): InboundFile => ({
  ...{ fileId: '', name: 'a.txt', url: '', size: 0, mediaType: 'text/plain', content: Buffer.alloc(0) },
  ...members,
});

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});
async function open(options: SlackOptions = {}, clientOptions: Parameters<typeof openChannelClient>[1] = {}) {
  const slack = stack.use(await startSlack({ scopes: SCOPES, ...options }));
  const client = await openChannelClient(slack, clientOptions);
  stack.defer(() => client.close());
  const { users, channels, postAs } = slack.workspace;
  const question = postAs(users.ada, channels.general, 'question', { mention: true });
  const answers = () => slack.workspace.thread(question.channel, question.ts).slice(1);
  return { slack, client, users, channels, question, answers, thread: question.ts };
}

describe('Slack channel: identity and checks', () => {
  it('reads the bot, the app and the workspace with the scopes of the manifest', async () => {
    const { slack, client } = await open();
    expect(await client.me(signal)).toEqual({
      botId: slack.botUser,
      botProfileId: slack.botId,
      name: 'agent',
      appId: slack.appId,
      teamId: slack.workspace.teamId,
      teamName: 'example',
    });
  });

  it('looks up a person once, and knows no name and e-mail without their scopes', async () => {
    const { slack, client, users } = await open();
    expect(await client.senderName?.(users.ada, signal)).toBe('ada');
    expect(await client.senderEmail?.(users.ada, signal)).toBe('');
    slack.scopes.add('users:read.email');
    const trusting = await openChannelClient(slack);
    expect(await trusting.senderEmail?.(users.ada, signal)).toBe('ada@example.com');
    slack.scopes.delete('users:read');
    expect(await client.senderName?.(users.ada, signal)).toBe('ada');
    expect(await client.senderName?.(users.grace, signal)).toBe('');
  });

  it('reports a revoked token as unauthorized', async () => {
    const { slack, client } = await open();
    slack.setTokenError('token_revoked');
    expect(await productErrorOf(client.me(signal))).toMatchObject({ kind: 'unauthorized' });
    expect(await client.probe(signal)).toMatchObject([
      { name: 'token', ok: false, problem: expect.stringContaining('token_revoked') },
    ]);
  });

  it('passes all checks, and names each missing scope and a wrong app token', async () => {
    const { slack, client } = await open({}, { mode: 'socket' });
    const names = async () => (await client.probe(signal)).map(({ name, ok }) => [name, ok]);
    expect(await names()).toEqual([
      ['token', true],
      ['scope', true],
      ['app_token', true],
    ]);
    slack.scopes.delete('files:read');
    slack.scopes.delete('im:history');
    const other = await openChannelClient(slack, { mode: 'socket', credentials: { app_token: 'xapp-none' } });
    const failed = (await other.probe(signal)).filter(({ ok }) => !ok);
    expect(failed.map(({ name, problem }) => [name, /scope (\S+) is|: (\w+)/.exec(problem)?.[0]])).toEqual([
      ['scope', 'scope files:read is'],
      ['scope', 'scope im:history is'],
      ['app_token', ': invalid_auth'],
    ]);
    expect(slack.sockets.connections).toBe(0);
  });
});

describe('Slack channel: posts', () => {
  it('creates a message in the thread with the id of the post, and edits it in place', async () => {
    const { client, answers, channels, thread } = await open();
    const id = await client.createPost(postFor(channels.general, thread), signal);
    await client.editPost(id, postFor(channels.general, thread, { markdown: 'x'.repeat(12_000) }), signal);
    expect(answers()).toMatchObject([
      {
        ts: id,
        threadTs: thread,
        markdown: 'x'.repeat(12_000),
        metadata: { event_payload: { post_id: 'pst_1' } },
      },
    ]);
  });

  it('notifies no group, also inside code', async () => {
    const { client, answers, channels, thread } = await open();
    const markdown = slackRules.disarm(
      '<!channel> `<!here>` @channel <!subteam^S1ABC>\n```\n<!everyone>\n```',
    );
    await client.createPost(postFor(channels.general, thread, { markdown }), signal);
    expect(answers()[0]?.notifies).toEqual([]);
  });

  it('asks for an approval with buttons that the parser of deployments reads, and shows the decision', async () => {
    const { slack, client, answers, channels, thread, users } = await open();
    const approval = { ...APPROVAL, approvalId: 'apr_01890000000000000000000000' };
    const post = postFor(channels.general, thread, { kind: 'approval', approval });
    const id = await client.createPost(post, signal);
    expect(answers()[0]?.notifies).toEqual([]);
    expect(JSON.stringify(answers()[0]?.blocks)).toContain(JSON.stringify(approval.inputJson));
    const reference = { channel: channels.general, ts: id };
    await slack.workspace.click(users.ada, reference, 'deny');
    const decided = { ...approval, decision: 'denied', decidedBy: 'Ada' };
    await client.editPost(id, { ...post, approval: decided }, signal);
    expect(JSON.stringify(answers()[0]?.blocks)).toContain('Denied by Ada.');
    await expect(slack.workspace.click(users.ada, reference, 'deny')).rejects.toThrow('no button');
  });

  it('finds a post of a thread or of direct messages whose answer was lost', async () => {
    const { slack, client, channels, thread, users } = await open();
    const direct = slack.workspace.directMessages(users.ada);
    for (const post of [postFor(channels.general, thread), postFor(direct, '', { postId: 'pst_2' })]) {
      expect(await client.findPost?.(post, signal)).toBeUndefined();
      slack.faults.enqueue('chat.postMessage', { kind: 'applied_then_cut' });
      expect(await productErrorOf(client.createPost(post, signal))).toMatchObject({ kind: 'ambiguous' });
      const found = await client.findPost?.(post, signal);
      const posted = slack.workspace.messages(post.place.place).filter(({ isBot }) => isBot);
      expect(found).toBe(posted[0]?.ts);
      expect(posted).toHaveLength(1);
    }
  });

  it('reports rate limits with their time, and server errors, without a repetition', async () => {
    const { slack, client, channels, thread } = await open();
    const post = postFor(channels.general, thread);
    slack.faults.enqueue('chat.postMessage', { kind: 'rate_limited', retryAfterSeconds: 7 });
    slack.faults.enqueue('chat.postMessage', { kind: 'server_error', status: 503 });
    slack.faults.enqueue('chat.update', { kind: 'server_error', status: 500 });
    expect(await productErrorOf(client.createPost(post, signal))).toMatchObject({
      kind: 'rate_limited',
      retryAfterMs: 7_000,
    });
    expect(await productErrorOf(client.createPost(post, signal))).toMatchObject({ kind: 'ambiguous' });
    expect(await productErrorOf(client.editPost('1', post, signal))).toMatchObject({ kind: 'unavailable' });
    expect(slack.calls.filter(({ method }) => method.startsWith('chat.'))).toHaveLength(3);
  });

  it('reports a deleted message as missing, and a channel without the bot as refused', async () => {
    const { slack, client, channels, thread } = await open();
    const post = postFor(channels.general, thread);
    const id = await client.createPost(post, signal);
    await client.deletePost(id, post.place, signal);
    expect(await productErrorOf(client.editPost(id, post, signal))).toMatchObject({ kind: 'missing' });
    expect(await productErrorOf(client.deletePost(id, post.place, signal))).toMatchObject({
      kind: 'missing',
    });
    expect(await productErrorOf(client.createPost(postFor(channels.outside), signal))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('/invite'),
    });
    expect(slack.workspace.thread(channels.general, thread)).toHaveLength(1);
  });

  it('withdraws an answer to a deleted question, which Slack posts into the channel', async () => {
    const { slack, client, channels, users, question } = await open();
    slack.workspace.deleteAs(users.ada, question);
    const bare = { channel: channels.general, text: 'a', thread_ts: question.ts };
    expect(await callForm(slack, 'chat.postMessage', bare)).toMatchObject({ ok: true });
    const post = postFor(channels.general, question.ts);
    expect(await productErrorOf(client.createPost(post, signal))).toMatchObject({ kind: 'refused' });
    expect(slack.workspace.messages(channels.general).map(({ text }) => text)).toEqual(['a']);
  });

  it('shows private notices to one person alone', async () => {
    const { slack, client, channels, thread, users, answers } = await open();
    const notice = { kind: 'notice', markdown: 'only you', privateTo: users.ada } as const;
    expect(await client.createPost(postFor(channels.general, thread, notice), signal)).toBe('');
    expect(slack.workspace.ephemerals(channels.general, users.ada)).toMatchObject([{ markdown: 'only you' }]);
    expect(answers()).toEqual([]);
  });
});

describe('Slack channel: files', () => {
  it('downloads a file of a message as the parser names it', async () => {
    const { slack, client } = await open();
    const bytes = Buffer.from([0, 255, 10]);
    const event = await eventWithFiles(slack, [
      { name: 'a.bin', bytes },
      { name: 'b.html', bytes: '<p>', mimetype: 'text/html' },
      { name: 'c.txt', bytes: 'c', needsFileInfo: true },
    ]);
    const parsed = parser.parse(event, await client.me(signal));
    const files = parsed.outcome === 'event' ? parsed.event.files : [];
    const read = async (one: InboundFile) =>
      Buffer.concat(await Array.fromAsync(await client.downloadFile(one, signal)));
    expect(await Promise.all(files.map(read))).toEqual([bytes, Buffer.from('<p>'), Buffer.from('c')]);
  });

  it.each([
    ['a missing scope, which Slack answers with its login page', 'gone', { scope: 'files:read' }],
    ['a deleted file', 'gone', { isDeleted: true }],
    ['a file that is too large', 'too_large', { fileMaxBytes: 2 }],
    ['a file outside of Slack', 'gone', { url: 'http://127.0.0.1:1/a.txt' }],
    ['a server error', 'unavailable', { fault: true }],
  ] as const)('refuses %s', async (_, kind, fault: DownloadFault) => {
    const { slack, client, channels, users } = await open({}, { fileMaxBytes: fault.fileMaxBytes ?? 100 });
    slack.workspace.postAs(users.ada, channels.general, 'see', { files: [{ name: 'a.txt', bytes: 'abc' }] });
    const [{ id = '' } = {}] = slack.workspace.messages(channels.general).at(-1)?.files ?? [];
    const { file: found } = (await callForm(slack, 'files.info', { file: id })) as never as {
      file: { url_private: string };
    };
    if (fault.scope) slack.scopes.delete(fault.scope);
    if (fault.isDeleted) slack.workspace.deleteFile(id);
    if (fault.fault) slack.faults.enqueue('download', { kind: 'server_error', status: 503 });
    const url = fault.url ?? found.url_private;
    const download = client.downloadFile(file({ url }), signal);
    expect(await productErrorOf(download.then((bytes) => Array.fromAsync(bytes)))).toMatchObject({ kind });
  });

  it('uploads a file into the thread, also when the last answer was lost', async () => {
    const { slack, client, channels, thread, answers } = await open();
    const read = async function* () {
      yield Buffer.from('ab');
      yield Buffer.from('c');
    };
    const place = { place: channels.general, thread, isGroup: true };
    const upload = { postId: 'pst_1', place, name: 'a.txt', mediaType: 'text/plain', size: 3, read };
    slack.faults.enqueue('files.completeUploadExternal', { kind: 'applied_then_cut' });
    const id = await client.uploadFile(upload, signal);
    await expect.poll(answers).toMatchObject([{ files: [{ id, name: 'a.txt', bytes: Buffer.from('abc') }] }]);
    slack.faults.enqueue('upload', { kind: 'server_error', status: 500 });
    expect(await productErrorOf(client.uploadFile(upload, signal))).toMatchObject({ kind: 'unavailable' });
    const empty = { ...upload, size: 0 };
    expect(await productErrorOf(client.uploadFile(empty, signal))).toMatchObject({ kind: 'refused' });
  });
});

interface DownloadFault {
  scope?: string;
  isDeleted?: boolean;
  fileMaxBytes?: number;
  url?: string;
  fault?: boolean;
}

/** Returns the envelope of a message with files. */
async function eventWithFiles(slack: SlackServer, files: AttachedFile[]): Promise<unknown> {
  const { users, channels, postAs } = slack.workspace;
  await using socket = await connectSocket(slack);
  const { ts } = postAs(users.ada, channels.general, 'see', { files });
  return await until('the message arrives', () =>
    socket.received.find(({ payload }) => payload?.event?.ts === ts),
  );
}
