import {
  type ConversationsRepliesResponse,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
  type WebClientOptions,
} from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { type SlackServer, startSlack } from '../../support/products/slack/server.ts';
import { until } from '../../support/wait.ts';

/** A client without retries, as the channel worker uses it. */
function clientOf({ apiUrl: slackApiUrl, botToken }: SlackServer, options: WebClientOptions = {}): WebClient {
  const plain = { retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, logLevel: LogLevel.ERROR };
  return new WebClient(botToken, { slackApiUrl, ...plain, ...options });
}
async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('@slack/web-api against the server', () => {
  it('reads the granted and the accepted scopes', async () => {
    await using slack = await startSlack({ scopes: ['chat:write', 'users:read'] });
    const result = await clientOf(slack).users.info({ user: slack.workspace.users.ada });
    expect(result).toMatchObject({ ok: true, user: { name: 'ada' } });
    expect(result.response_metadata).toMatchObject({
      scopes: ['chat:write', 'users:read'],
      acceptedScopes: ['users:read'],
    });
  });

  it('fails with the platform error, the needed and the provided scopes', async () => {
    await using slack = await startSlack({ scopes: ['users:read'] });
    const channel = slack.workspace.channels.general;
    const error = await errorOf(clientOf(slack).chat.postMessage({ channel, text: 'a' }));
    expect(error).toBeInstanceOf(WebAPIPlatformError);
    expect((error as WebAPIPlatformError).data).toMatchObject({
      error: 'missing_scope',
      needed: 'chat:write',
      provided: 'users:read',
    });
  });

  it('surfaces a rate limit with its seconds, or waits for them', async () => {
    await using slack = await startSlack();
    const channel = slack.workspace.channels.general;
    slack.faults.enqueue('chat.postMessage', { kind: 'rate_limited', retryAfterSeconds: 7 });
    const error = await errorOf(clientOf(slack).chat.postMessage({ channel, text: 'a' }));
    expect(error).toBeInstanceOf(WebAPIRateLimitedError);
    expect((error as WebAPIRateLimitedError).retryAfter).toBe(7);

    slack.faults.enqueue('chat.postMessage', { kind: 'rate_limited', retryAfterSeconds: 1 });
    const patient = clientOf(slack, {
      rejectRateLimitedCalls: false,
      retryConfig: { retries: 1, minTimeout: 1 },
    });
    expect(await patient.chat.postMessage({ channel, text: 'b' })).toMatchObject({ ok: true });
    expect(slack.workspace.messages(channel).map(({ text }) => text)).toEqual(['b']);
  });

  it('surfaces a server error with its status', async () => {
    await using slack = await startSlack();
    slack.faults.enqueue('auth.test', { kind: 'server_error', status: 503 });
    const error = await errorOf(clientOf(slack).auth.test());
    expect(error).toBeInstanceOf(WebAPIHTTPError);
    expect((error as WebAPIHTTPError).statusCode).toBe(503);
  });

  it('finds a message whose response was cut off by its metadata', async () => {
    await using slack = await startSlack();
    const { channels, users, postAs } = slack.workspace;
    const { channel, ts } = postAs(users.ada, channels.general, 'question', { mention: true });
    const client = clientOf(slack);
    slack.faults.enqueue('chat.postMessage', { kind: 'applied_then_cut' });
    const post = client.chat.postMessage({
      channel,
      thread_ts: ts,
      markdown_text: '**answer**',
      metadata: { event_type: 'post', event_payload: { post_id: 'pst_1' } },
    });
    expect(await errorOf(post)).toBeInstanceOf(WebAPIRequestError);
    const { messages = [] } = await client.conversations.replies({ channel, ts, include_all_metadata: true });
    const found = messages.filter(({ metadata }) => metadata?.event_type === 'post');
    expect(found).toMatchObject([{ metadata: { event_payload: { post_id: 'pst_1' } } }]);
    expect(channels.general).toBe(channel);
    expect(slack.workspace.thread(channel, ts)[1]).toMatchObject({
      ts: found[0]?.ts,
      markdown: '**answer**',
    });
  });

  it('pages through a thread', async () => {
    await using slack = await startSlack();
    const { channels, users, postAs } = slack.workspace;
    const { channel, ts } = postAs(users.ada, channels.general, 'root');
    for (let index = 0; index < 5; index++) postAs(users.ada, channel, `${index}`, { thread: ts });
    const texts: unknown[] = [];
    for await (const page of clientOf(slack).paginate('conversations.replies', { channel, ts, limit: 2 })) {
      const { messages = [] } = page as ConversationsRepliesResponse;
      texts.push(...messages.map(({ text }) => text));
    }
    expect(texts).toEqual(['root', '0', '1', '2', '3', '4']);
  });

  it('uploads files into a thread', async () => {
    await using slack = await startSlack();
    const { channels, users, postAs, thread } = slack.workspace;
    const { channel, ts } = postAs(users.ada, channels.general, 'question');
    const client = clientOf(slack);
    const bytes = Buffer.from([0, 255, 10, 13]);
    const result = await client.filesUploadV2({
      channel_id: channel,
      thread_ts: ts,
      initial_comment: 'two files',
      file_uploads: [
        { file: bytes, filename: 'a.bin' },
        { content: 'grüße', filename: 'b.txt' },
      ],
    });
    expect(result.ok).toBe(true);
    const shared = await until('the files are shared', () => thread(channel, ts)[1]);
    expect(shared).toMatchObject({ text: 'two files', files: [{ name: 'a.bin', bytes }, { name: 'b.txt' }] });
    const { file } = await client.files.info({ file: shared.files[1]?.id ?? '' });
    const headers = { authorization: `Bearer ${slack.botToken}` };
    const response = await fetch(String(file?.url_private), { headers });
    expect(await response.text()).toBe('grüße');
  });

  it('ends with one message per id under random faults', async () => {
    await using slack = await startSlack({ seed: 11, faults: { rate5xx: 0.2, appliedThenCut: 0.2 } });
    const { channels, users, postAs, thread } = slack.workspace;
    const { channel, ts } = postAs(users.ada, channels.general, 'root');
    const client = clientOf(slack);
    const ids = Array.from({ length: 12 }, (_, index) => `pst_${index}`);
    async function postedIds(): Promise<unknown[]> {
      const read = () => client.conversations.replies({ channel, ts, include_all_metadata: true });
      for (;;) {
        const page = await read().catch(() => undefined);
        if (page?.messages)
          return page.messages.map(
            ({ metadata }) => (metadata?.event_payload as { post_id?: string })?.post_id,
          );
      }
    }
    for (const post_id of ids) {
      const metadata = { event_type: 'post', event_payload: { post_id } };
      const post = () => client.chat.postMessage({ channel, thread_ts: ts, text: post_id, metadata });
      while (!(await postedIds()).includes(post_id)) await errorOf(post());
    }
    expect(thread(channel, ts).map(({ text }) => text)).toEqual(['root', ...ids]);
    expect(new Set(slack.faults.injected.map(({ fault }) => fault.kind))).toEqual(
      new Set(['server_error', 'applied_then_cut']),
    );
  });
});
