import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpHeaders, httpMessage } from '../../services/deployments/channels/fixtures.ts';
import { dataOfCreated } from '../../support/api.ts';
import { createChannelClient } from '../../support/channel-client.ts';
import { until } from '../../support/wait.ts';
import { type ChannelRef, offeredLink, storeConversation } from './channel-rows.ts';
import { axeViolations, type ConsoleFixture, PAGE_STORAGE, startConsole, tabTo } from './console-fixture.ts';
import { button, dialog, secretOf } from './deployment-helpers.ts';

describe('channel pages', () => {
  let fixture: ConsoleFixture;
  let agentId: string;
  beforeAll(async () => {
    // Nothing listens here, so the channel worker cannot reach Slack.
    fixture = await startConsole({ SERVICE_CHANNELS_API_URLS: 'slack=http://127.0.0.1:1' });
    agentId = await fixture.api.createAgent({ name: 'Support' });
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  async function createChannel(members: object = {}) {
    const body = { type: 'channel', provider: 'http', name: 'Help desk', ...members };
    const created = dataOfCreated(await fixture.api.post(`/admin/agents/${agentId}/deployments`, body));
    const deploymentId = String(created.deployment_id);
    const product = createChannelClient(fixture.system.url, deploymentId, String(created.shared_secret));
    return { agentId, deploymentId, product };
  }

  const pathOf = ({ deploymentId }: ChannelRef) => `/admin/agents/${agentId}/deployments/${deploymentId}`;
  const pageOf = ({ deploymentId }: ChannelRef, tab?: string) =>
    `/deployments/${agentId}/${deploymentId}${tab ? `?tab=${tab}` : ''}`;

  /** Runs the curl command that a button copies, and returns the data of the response. */
  async function runCopied(page: Page, about?: string): Promise<unknown> {
    const name = about ? new RegExp(`^Copy as curl ?: ${about}$`) : /^Copy as curl$/;
    await page.getByRole('button', { name }).click();
    const command = await until('the command is copied', async () => {
      const text = await page.evaluate<string>('navigator.clipboard.readText()');
      return text.startsWith('curl') && text;
    });
    await page.evaluate('navigator.clipboard.writeText("")');
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    const { code, data } = JSON.parse(stdout);
    expect(code).toBe('OK');
    return data;
  }

  it('create a channel by keyboard, show its secret once, and complete its steps with the first message', async () => {
    const { page, consoleMessages } = await fixture.open(`/deployments/new?agent=${agentId}&type=channel`);
    await tabTo(page, page.getByRole('radio', { name: 'Slack' }));
    await page.keyboard.press('ArrowUp');
    await page
      .getByRole('radio', { name: 'Another product' })
      .and(page.locator('[data-checked]'))
      .first()
      .waitFor();
    await tabTo(page, page.getByRole('textbox', { name: 'Name' }));
    await page.keyboard.type('Help desk');
    await tabTo(page, button(page, 'Create channel'));
    const created = secretOf(page);
    await page.keyboard.press('Enter');
    const secret = await created;
    await dialog(page).getByText(secret).waitFor();
    const callbackUrl = await dialog(page).getByRole('region', { name: 'Callback URL' }).textContent();
    expect(await axeViolations(page)).toEqual([]);
    await tabTo(page, page.getByRole('checkbox', { name: 'I have stored the secret' }));
    await page.keyboard.press('Space');
    await tabTo(page, button(page, 'Done'));
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Setup', selected: true }).waitFor();
    expect(await page.evaluate<string>(PAGE_STORAGE)).not.toContain(secret);
    await page.reload();
    const next = page.locator('[aria-current=step]');
    await next.getByText('Sign each request').waitFor();
    expect(await page.evaluate<string>(PAGE_STORAGE)).not.toContain(secret);

    const body = httpMessage('m1');
    const headers = httpHeaders(body, new Date(), secret).map(([name, value]): [string, string] => [
      name,
      value,
    ]);
    const send = (bytes: string) =>
      fetch(String(callbackUrl), {
        method: 'POST',
        headers: [...headers, ['content-type', 'application/json']],
        body: bytes,
      });
    expect((await send(`${body} `)).status).toBe(401);
    await next.getByText('Sign each request').waitFor();
    expect((await send(body)).status).toBe(202);
    // Without a reload: the page polls.
    await page.getByText('All steps are done.').waitFor();
    await page.getByRole('tab', { name: 'Deliveries' }).click();
    await page.getByRole('cell', { name: 'Ada', exact: true }).waitFor();
    await page.getByText('The signature does not match.').waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('show the conversation, the session and the answer of a message', async () => {
    const channel = await createChannel({ name: 'Open desk', config: { access: { mode: 'anyone' } } });
    const { page, consoleMessages } = await fixture.open(pageOf(channel));
    await page.getByText('No conversations yet.').waitFor();
    const { status } = await channel.product.sendMessage('room-7', 'm1', 'Is the build green?', 'ada');
    expect(status).toBe(202);
    await page.getByRole('rowheader').getByText('room-7').first().waitFor();
    await page.getByRole('tab', { name: 'Deliveries' }).click();
    await page.getByRole('cell').getByText('Accepted').waitFor();
    await page.getByRole('tab', { name: 'Posts' }).click();
    await page.getByRole('cell').getByText('Answer').waitFor();
    await page.getByRole('cell').getByText('Sent').first().waitFor();
    await page.getByRole('tab', { name: 'Conversations' }).click();
    await page.getByRole('link', { name: 'Session', exact: true }).click();
    await page
      .getByRole('article', { name: 'Message from User ada' })
      .getByText('Is the build green?')
      .waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('refuse an incomplete channel at its fields and create nothing', async () => {
    const { page } = await fixture.open('/deployments/new?type=channel');
    await page.getByRole('radio', { name: 'A list', exact: true }).click();
    await page.getByLabel('Bot token').fill('not a token');
    await button(page, 'Create channel').click();
    for (const text of ['Select an agent.', 'Enter a name.', 'Enter an account or a place.'])
      await page.getByText(text).waitFor();
    expect(await fixture.api.list('/admin/deployments?q=Refused')).toEqual([]);
    await page.goto(`/deployments/new?agent=${agentId}&type=channel`);
    await page.getByRole('textbox', { name: 'Name' }).fill('Refused');
    await page.getByLabel('Bot token').fill('not a token');
    await button(page, 'Create channel').click();
    await page.getByLabel('Bot token').and(page.locator('[aria-invalid=true]')).waitFor();
    expect(await fixture.api.list('/admin/deployments?q=Refused')).toEqual([]);
    await page.context().close();
  });

  it('open the setup of a new Slack channel, which takes the credentials', async () => {
    const { page } = await fixture.open(`/deployments/new?agent=${agentId}&type=channel`);
    await page.getByRole('textbox', { name: 'Name' }).fill('In Slack');
    await button(page, 'Create channel').click();
    await page.getByRole('tab', { name: 'Setup', selected: true }).waitFor();
    const next = page.locator('[aria-current=step]');
    await next.getByText('Create an app from a manifest').waitFor();
    await page.getByText('set it as App-level token (app_token)').waitFor();
    await next.getByRole('region', { name: 'Text for create app' }).getByText('"/agent"').waitFor();
    await page.getByLabel('Bot token').fill('xoxb-123456789012-abcdefgh');
    await button(page, 'Save credentials').click();
    await page.getByLabel('App-level token').and(page.locator('[aria-invalid=true]')).waitFor();
    await page.getByLabel('Bot token').fill('xoxb-123456789012-abcdefgh');
    await page.getByLabel('App-level token').fill('xapp-1-A0123-456-abcdefgh');
    await button(page, 'Save credentials').click();
    await page.getByText('bot token …efgh').waitFor();
    await next.getByText('Create an app from a manifest').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Bot token').inputValue()).toBe('');
    expect(await axeViolations(page)).toEqual([]);
    await page.context().close();
  });

  it('disable and enable a channel', async () => {
    const channel = await createChannel();
    const { page, consoleMessages } = await fixture.open(pageOf(channel));
    await button(page, 'Disable').click();
    await dialog(page).getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    expect((await fixture.api.get(pathOf(channel))).body.data.status).toBe('disabled');
    await button(page, 'Enable').click();
    await page.getByText('Enabled', { exact: true }).waitFor();
    expect((await fixture.api.get(pathOf(channel))).body.data.status).toBe('enabled');
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('change the settings with the revision that was shown', async () => {
    const channel = await createChannel();
    const { page } = await fixture.open(pageOf(channel, 'settings'));
    await page.getByRole('textbox', { name: 'Greeting' }).fill('Welcome.');
    await button(page, 'Save').click();
    await button(page, 'Save').waitFor({ state: 'detached' });
    expect((await fixture.api.get(pathOf(channel))).body.data).toMatchObject({
      config: { greeting: 'Welcome.' },
    });
    await page.getByRole('textbox', { name: 'Greeting' }).fill('Hello.');
    await fixture.api.send('PATCH', pathOf(channel), { name: 'Changed elsewhere' });
    await button(page, 'Save').click();
    await page.getByText('Another user changed this channel while you were editing.').waitFor();
    expect((await fixture.api.get(pathOf(channel))).body.data).toMatchObject({
      config: { greeting: 'Welcome.' },
    });
    await page.context().close();
  });

  it('show conversations, deliveries, posts and people, with commands that work as copied', async () => {
    const channel = await createChannel();
    await storeConversation(fixture, channel);
    const { page, consoleMessages } = await fixture.open(pageOf(channel));
    const tab = (name: string) => page.getByRole('tab', { name }).click();
    await page.getByRole('rowheader').getByText('The first room').waitFor();
    expect(await runCopied(page, 'conversations')).toHaveLength(1);

    await tab('Deliveries');
    await page.getByText('The message does not address the bot.').waitFor();
    await page.getByRole('combobox', { name: 'Result' }).click();
    await page.getByRole('option', { name: 'Refused' }).click();
    await page.getByText('The message does not address the bot.').waitFor({ state: 'detached' });
    await page.getByText('The account is not linked to a user.').waitFor();
    expect(await runCopied(page, 'deliveries')).toHaveLength(1);

    await tab('Posts');
    await page.getByText('The file is too large.').waitFor();
    await page.getByRole('combobox', { name: 'State' }).click();
    await page.getByRole('option', { name: 'Given up' }).click();
    await page.getByText('The file is too large.').waitFor({ state: 'detached' });
    expect(await runCopied(page, 'posts')).toHaveLength(1);

    await tab('People');
    await page.getByRole('rowheader').getByText('Grace Hopper').waitFor();
    expect(await runCopied(page, 'links')).toHaveLength(1);
    await tab('Setup');
    await page.getByRole('list', { name: 'Setup steps' }).waitFor();
    expect(await runCopied(page, 'setup')).toHaveProperty('steps');
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('link an account with the code of the bot, show it in both places, and unlink it', async () => {
    const channel = await createChannel({ name: 'Linked desk' });
    await storeConversation(fixture, channel);
    const link = await offeredLink(channel.product);
    const { page, consoleMessages } = await fixture.open(link);
    await page.getByText('User ada (ada)').waitFor();
    await page.getByText('Linked desk').waitFor();
    expect(await runCopied(page)).toMatchObject({ external_id: 'ada' });
    expect(await axeViolations(page)).toEqual([]);
    await button(page, 'Link this account').click();
    await page.getByRole('heading', { level: 1, name: 'Account linked' }).waitFor();
    await page.getByRole('link', { name: 'Your connections' }).click();
    const linked = page.getByRole('list', { name: 'Linked accounts' }).getByText('User ada');
    await linked.first().waitFor();
    expect(consoleMessages).toEqual([]);

    await page.goto(link);
    await page.getByText('The link was used or has expired.').waitFor();

    await page.goto(pageOf(channel, 'people'));
    await page.getByRole('rowheader').getByText('User ada').waitFor();
    await page.goto('/connections');
    await button(page, 'Unlink User ada').click();
    await dialog(page).getByRole('button', { name: 'Unlink' }).click();
    // The button itself is hidden as soon as the dialog opens.
    await page.getByText('User ada is no longer linked.').waitFor();
    await page.goto(pageOf(channel, 'people'));
    await button(page, 'Unlink Grace Hopper').click();
    await dialog(page).getByRole('button', { name: 'Unlink' }).click();
    await page.getByText('No linked people yet.').waitFor();
    expect(await fixture.api.list(`${pathOf(channel)}/links`)).toEqual([]);
    await page.context().close();
  });
});
