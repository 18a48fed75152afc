import { describe, expect, it } from 'vitest';
import { callForm } from '../../support/products/slack/client.ts';
import { type SlackServer, startSlack } from '../../support/products/slack/server.ts';
import { until } from '../../support/wait.ts';

const BYTES = Buffer.from([0, 1, 2, 255]);

async function upload(slack: SlackServer, length = BYTES.length) {
  const ticket = await callForm(slack, 'files.getUploadURLExternal', { filename: 'a b.bin', length });
  const { status } = await fetch(String(ticket.upload_url), { method: 'POST', body: new Uint8Array(BYTES) });
  return { id: String(ticket.file_id), status };
}

/** Posts a file as a user and returns its URL and id. */
function share(slack: SlackServer, file: { needsFileInfo?: boolean; urlPrivate?: string } = {}) {
  const { postAs, channels, users, messages } = slack.workspace;
  const files = [{ name: 'notes.txt', bytes: 'hello', mimetype: 'text/plain', ...file }];
  postAs(users.ada, channels.general, 'see', { files });
  const event = slack.deliveries.at(-1)?.payload.event as { files: Record<string, unknown>[] };
  const id = messages(channels.general).at(-1)?.files[0]?.id ?? '';
  return { id, file: event.files[0] ?? {} };
}
const download = (url: unknown, token?: string) =>
  fetch(String(url), token ? { headers: { authorization: `Bearer ${token}` } } : {});

async function expectLoginPage(response: Response): Promise<void> {
  expect([response.redirected, response.status]).toEqual([true, 200]);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await response.text()).toContain('Sign in');
}

describe('Slack: uploads', () => {
  it('shares an uploaded file in a thread after the response', async () => {
    await using slack = await startSlack();
    const { channels, users, postAs, thread } = slack.workspace;
    const { ts } = postAs(users.ada, channels.general, 'root');
    const { id, status } = await upload(slack);
    expect(status).toBe(200);
    const complete = await callForm(slack, 'files.completeUploadExternal', {
      files: [{ id, title: 'a' }],
      channel_id: channels.general,
      thread_ts: ts,
      initial_comment: 'here',
    });
    expect(complete).toMatchObject({ ok: true, files: [{ id, name: 'a b.bin', size: 4 }] });
    expect(thread(channels.general, ts)).toHaveLength(1);
    const shared = await until('the file is shared', () => thread(channels.general, ts)[1]);
    expect(shared).toMatchObject({ isBot: true, text: 'here', files: [{ id, bytes: BYTES }] });
    const info = await callForm(slack, 'files.info', { file: id });
    expect(info).toMatchObject({ file: { shares: { public: { [channels.general]: [{ ts: shared.ts }] } } } });
  });

  it('accepts the bytes as the file of a form', async () => {
    await using slack = await startSlack();
    const args = { filename: 'a.bin', length: 4 };
    const { upload_url } = await callForm(slack, 'files.getUploadURLExternal', args);
    const form = new FormData();
    form.append('body', new Blob([BYTES]), 'a.bin');
    const response = await fetch(String(upload_url), { method: 'POST', body: form });
    expect([response.status, await response.text()]).toEqual([200, 'OK - 4']);
  });

  it('refuses another number of bytes than announced, and the file stays absent', async () => {
    await using slack = await startSlack();
    const { id, status } = await upload(slack, 5);
    expect(status).toBe(400);
    const args = { files: [{ id }], channel_id: slack.workspace.channels.general };
    expect(await callForm(slack, 'files.completeUploadExternal', args)).toEqual({
      ok: false,
      error: 'file_not_found',
    });
  });

  it('completes an upload once', async () => {
    await using slack = await startSlack();
    const { id } = await upload(slack);
    const complete = () => callForm(slack, 'files.completeUploadExternal', { files: [{ id }] });
    expect(await complete()).toMatchObject({ ok: true });
    expect(await complete()).toMatchObject({ error: 'file_not_found' });
  });

  it('refuses an empty file and a channel without the bot', async () => {
    await using slack = await startSlack();
    const empty = { filename: 'a', length: 0 };
    expect(await callForm(slack, 'files.getUploadURLExternal', empty)).toMatchObject({
      error: 'missing_argument',
    });
    const { id } = await upload(slack);
    const args = { files: [{ id }], channel_id: slack.workspace.channels.outside };
    expect(await callForm(slack, 'files.completeUploadExternal', args)).toMatchObject({
      error: 'not_in_channel',
    });
  });
});

describe('Slack: downloads', () => {
  it('returns the content for the bot token', async () => {
    await using slack = await startSlack();
    const { file } = share(slack);
    const response = await download(file.url_private, slack.botToken);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain']);
    expect(await response.text()).toBe('hello');
  });

  it.each([
    ['no token', undefined],
    ['a wrong token', 'xoxb-0-unknown'],
  ])('returns a login page with status 200 for %s', async (_, token) => {
    await using slack = await startSlack();
    await expectLoginPage(await download(share(slack).file.url_private, token));
  });

  it('returns a login page with status 200 without the scope files:read', async () => {
    await using slack = await startSlack();
    const { file } = share(slack);
    slack.scopes.delete('files:read');
    await expectLoginPage(await download(file.url_private, slack.botToken));
  });

  it('returns 404 for the content of a deleted file, and file_deleted for its info', async () => {
    await using slack = await startSlack();
    const { id, file } = share(slack);
    slack.workspace.deleteFile(id);
    expect((await download(file.url_private, slack.botToken)).status).toBe(404);
    expect(await callForm(slack, 'files.info', { file: id })).toMatchObject({ error: 'file_deleted' });
  });

  it('gives the id alone in events of Slack Connect, and the file in files.info', async () => {
    await using slack = await startSlack();
    const { id, file } = share(slack, { needsFileInfo: true });
    expect(file).toEqual({ id, mode: 'file_access', file_access: 'check_file_info' });
    const info = await callForm(slack, 'files.info', { file: id });
    expect(info).toMatchObject({ file: { id, name: 'notes.txt', url_private: expect.any(String) } });
  });

  it('puts another address into the event when a test asks for it', async () => {
    await using slack = await startSlack();
    const urlPrivate = 'http://169.254.169.254/latest';
    expect(share(slack, { urlPrivate }).file.url_private).toBe(urlPrivate);
  });

  it('redirects to another address when a test asks for it', async () => {
    await using slack = await startSlack();
    const { file } = share(slack);
    slack.overrides.downloadLocation = 'http://127.0.0.1:1/';
    const response = await fetch(String(file.url_private), { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://127.0.0.1:1/']);
  });

  it('injects faults into uploads and downloads', async () => {
    await using slack = await startSlack();
    const { file } = share(slack);
    slack.faults.enqueue('download', { kind: 'server_error', status: 502 }, { kind: 'applied_then_cut' });
    expect((await download(file.url_private, slack.botToken)).status).toBe(502);
    await expect(download(file.url_private, slack.botToken)).rejects.toThrow('fetch failed');
    slack.faults.enqueue('upload', { kind: 'rate_limited', retryAfterSeconds: 2 });
    expect((await upload(slack)).status).toBe(429);
  });
});
