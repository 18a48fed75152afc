import { createRequire } from 'node:module';
import type { types } from '@slack/bolt';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../support/port.ts';
import { type SlackOptions, type SlackServer, startSlack } from '../../support/products/slack/server.ts';
import { signatureHeaders } from '../../support/products/slack/signature.ts';
import { SILENT_LOGGER } from '../../support/products/slack/silent-logger.ts';
import { until } from '../../support/wait.ts';

// Bolt is CommonJS without named exports that Node detects.
const { App, LogLevel, SocketModeReceiver } = createRequire(import.meta.url)(
  '@slack/bolt',
) as typeof import('@slack/bolt');
type BoltApp = InstanceType<typeof App>;

const QUESTION: types.KnownBlock[] = [
  {
    type: 'actions',
    elements: [
      { type: 'button', action_id: 'allow', text: { type: 'plain_text', text: 'Allow' }, value: 'ap_1' },
    ],
  },
];
const METADATA = { event_type: 'post', event_payload: { post_id: 'pst_1' } };

/** Starts an unmodified Bolt app that receives by HTTP or in Socket Mode. */
async function startBolt(
  slack: SlackServer,
  mode: 'http' | 'socket',
  prepare: (app: BoltApp) => void,
): Promise<AsyncDisposable & { url: string }> {
  const clientOptions = { slackApiUrl: slack.apiUrl, retryConfig: { retries: 2, minTimeout: 1 } };
  const common = { token: slack.botToken, clientOptions, logLevel: LogLevel.ERROR };
  const receiver = new SocketModeReceiver({
    appToken: slack.appToken,
    clientPingTimeout: 300,
    // `stop` does not wait for the end of the connection, which the server then cuts.
    logger: SILENT_LOGGER,
    installerOptions: { clientOptions },
  });
  const app = new App(
    mode === 'socket'
      ? { ...common, receiver }
      : { ...common, signingSecret: slack.signingSecret, processBeforeResponse: true },
  );
  prepare(app);
  const port = await freePort();
  await app.start(port);
  const url = `http://127.0.0.1:${port}/slack/events`;
  if (mode === 'http' && !(await slack.setRequestUrl(url)))
    throw new Error('Bolt has not answered the challenge');
  return { url, [Symbol.asyncDispose]: async () => void (await app.stop()) };
}

describe.each(['http', 'socket'] as const)('Bolt over %s against the server', (mode) => {
  let stack = new AsyncDisposableStack();
  afterEach(async () => {
    await stack.disposeAsync();
    stack = new AsyncDisposableStack();
  });

  async function open(prepare: (app: BoltApp) => void, options: SlackOptions = {}): Promise<SlackServer> {
    const slack = stack.use(await startSlack({ endsTcp: true, ...options }));
    stack.use(await startBolt(slack, mode, prepare));
    return slack;
  }

  it('answers a mention with a button, and updates the message after the click', async () => {
    const slack = await open((app) => {
      app.event('app_mention', async ({ event, client }) => {
        await client.chat.postMessage({
          channel: event.channel,
          thread_ts: event.ts,
          text: 'May I?',
          metadata: METADATA,
          blocks: QUESTION,
        });
      });
      app.action('allow', async ({ ack, body, action, client }) => {
        await ack();
        const { channel, message, user } = body as {
          channel: { id: string };
          message: { ts: string };
          user: { id: string };
        };
        const { value } = action as { value: string };
        await client.chat.update({ channel: channel.id, ts: message.ts, text: `${value} by <@${user.id}>` });
      });
    });
    const { users, channels, postAs, thread, click } = slack.workspace;
    const { ts } = postAs(users.ada, channels.general, 'please', { mention: true });
    const question = await until('the app asks', () => thread(channels.general, ts)[1]);
    expect(question).toMatchObject({ text: 'May I?', metadata: METADATA, isBot: true });
    expect((await click(users.grace, question, 'allow')).isAcknowledged).toBe(true);
    const updated = await until('the message is updated', () => {
      const [, message] = thread(channels.general, ts);
      return message?.isEdited && message;
    });
    expect(updated).toMatchObject({ ts: question.ts, text: `ap_1 by <@${users.grace}>`, blocks: [] });
  });

  it('sees a mention as message and as app_mention, and not its own messages', async () => {
    const seen: string[] = [];
    const slack = await open((app) => {
      app.event('app_mention', async ({ say }) => {
        seen.push('app_mention');
        await say('hello');
      });
      app.message(async ({ message }) => {
        seen.push(`message of ${'user' in message ? message.user : ''}`);
      });
    });
    const { users, channels, postAs, messages } = slack.workspace;
    postAs(users.ada, channels.general, 'hi', { mention: true });
    await until('the app answers', () => messages(channels.general).length === 2);
    await until('all events are delivered', () => slack.deliveries.length === 3);
    await slack.settled();
    expect(seen.sort()).toEqual(['app_mention', `message of ${users.ada}`]);
  });

  it('answers a command at once and at the response URL', async () => {
    const slack = await open((app) => {
      app.command('/agent', async ({ ack, command, respond }) => {
        await ack(`Working on ${command.text}.`);
        await respond({ text: 'Done.', response_type: 'in_channel' });
      });
    });
    const { users, channels, command, ephemerals, messages } = slack.workspace;
    expect((await command(users.ada, '/agent new topic')).isAcknowledged).toBe(true);
    expect(ephemerals(channels.general, users.ada)).toMatchObject([{ text: 'Working on new topic.' }]);
    await until('the app responds', () => messages(channels.general).length === 1);
    expect(messages(channels.general)).toMatchObject([{ text: 'Done.' }]);
  });

  it('posts after a rate limit and a server error', async () => {
    const slack = await open((app) => {
      app.event('app_mention', async ({ say }) => void (await say('hello')));
    });
    slack.faults.enqueue(
      'chat.postMessage',
      { kind: 'rate_limited', retryAfterSeconds: 1 },
      { kind: 'server_error', status: 502 },
    );
    const { users, channels, postAs, messages } = slack.workspace;
    postAs(users.ada, channels.general, 'hi', { mention: true });
    await until('the app answers', () => messages(channels.general).some(({ isBot }) => isBot));
    const statuses = slack.calls
      .filter(({ method }) => method === 'chat.postMessage')
      .map(({ status }) => status);
    expect(statuses).toEqual([429, 502, 200]);
  });

  it('receives a file and downloads it with its token', async () => {
    const contents: string[] = [];
    const slack = await open((app) => {
      app.message(async ({ message, context }) => {
        const files = 'files' in message ? (message.files ?? []) : [];
        for (const { url_private_download } of files) {
          const headers = { authorization: `Bearer ${context.botToken}` };
          contents.push(await (await fetch(String(url_private_download), { headers })).text());
        }
      });
    });
    const { users, directMessages, postAs } = slack.workspace;
    const files = [{ name: 'a b.txt', bytes: 'content', mimetype: 'text/plain' }];
    postAs(users.ada, directMessages(users.ada), '', { files });
    await until('the file is read', () => contents.length === 1);
    expect(contents).toEqual(['content']);
  });
});

describe('Bolt over HTTP against the server', () => {
  it('accepts the signature of this server alone', async () => {
    await using slack = await startSlack();
    const seen: string[] = [];
    await using app = await startBolt(slack, 'http', (bolt) => {
      bolt.message(async ({ message }) => void seen.push(message.ts));
    });
    const { users, channels, postAs } = slack.workspace;
    const { ts } = postAs(users.ada, channels.general, 'hello');
    await slack.settled();
    const body = JSON.stringify(slack.deliveries[0]?.payload);
    async function send(secret: string, at: number): Promise<number> {
      const signature = signatureHeaders(secret, body, new Date(at));
      const headers = { 'content-type': 'application/json', ...signature };
      return (await fetch(app.url, { method: 'POST', headers, body })).status;
    }
    const minute = 60_000;
    expect(await send(slack.signingSecret, Date.now() - 6 * minute)).toBe(401);
    expect(await send('another secret', Date.now())).toBe(401);
    expect(seen).toEqual([ts]);
  });

  it('receives an event again that it did not acknowledge in time', async () => {
    await using slack = await startSlack({ timeoutMs: 200, retryDelaysMs: [0, 100, 100] });
    const retries: unknown[] = [];
    await using _app = await startBolt(slack, 'http', (bolt) => {
      // The first attempt takes longer than the limit before Bolt acknowledges it.
      bolt.use(async ({ context, next }) => {
        retries.push([context.retryNum, context.retryReason]);
        if (retries.length === 1) await until('the retry arrives', () => retries.length > 1);
        await next();
      });
      bolt.message(async () => {});
    });
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'hi');
    await until('a retry is accepted', () => slack.deliveries.at(-1)?.outcome === 'accepted');
    expect(retries[1]).toEqual([1, 'http_timeout']);
    expect(slack.lost).toEqual([]);
  });
});
