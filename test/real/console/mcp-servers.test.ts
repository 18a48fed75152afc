import { mkdir } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Canaries } from '../../support/canaries.ts';
import { type McpTestServer, startMcpServer } from '../../support/mcp-server.ts';
import {
  axeViolations,
  type ConsoleFixture,
  fitsWindow,
  PAGE_STORAGE,
  startConsole,
  tabTo,
} from './console-fixture.ts';

/** The folder for pictures of the pages; without it none are taken. */
const PICTURES = process.env.SERVICE_TEST_PICTURES;
const FIND = { description: 'Finds issues.', annotations: { readOnlyHint: true } };

describe('MCP server pages', () => {
  let fixture: ConsoleFixture;
  let remote: McpTestServer;
  const canaries = new Canaries();
  beforeAll(async () => {
    remote = await startMcpServer({ find: FIND, send: { description: 'Sends.\u200b' } });
    fixture = await startConsole({ SERVICE_OUTBOUND_PRIVATE_HOSTS: `127.0.0.1:${remote.port}` });
    if (PICTURES) await mkdir(PICTURES, { recursive: true });
  });
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]();
    await remote?.[Symbol.asyncDispose]();
  });

  const picture = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  const pathOf = (id: string) => `/admin/mcp-servers/${id}`;
  async function createServer(name: string, url = remote.url): Promise<string> {
    const { body } = await fixture.api.post('/admin/mcp-servers', {
      name,
      url,
      transport: 'streamable_http',
    });
    return String(body.data.mcp_server_id);
  }
  /** Approves every tool with the same rule. */
  async function approve(id: string): Promise<void> {
    const { body } = await fixture.api.post(`${pathOf(id)}/probe`, {});
    const { sha256, tools } = body.data.catalogue as { sha256: string; tools: { name: string }[] };
    const rules = tools.map(({ name }) => ({ name, offered: true, permission: 'ask', effect: 'once' }));
    await fixture.api.send('PUT', `${pathOf(id)}/catalogue`, { sha256, tools: rules });
  }

  it('lead by keyboard from a new server to an agent that has it', async () => {
    const agentId = await fixture.api.createAgent({ name: 'Helper' });
    const { page, consoleMessages } = await fixture.open('/mcp-servers');
    await page.getByText('No MCP servers yet.').waitFor();
    await page.keyboard.press('n');
    await page.getByLabel('Name').fill('example');
    await page.getByLabel('URL').fill(remote.url);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'example' }).waitFor();
    await page.getByText('U+200B').first().waitFor();
    // The tool with an invisible character is not offered.
    const approval = page.getByRole('button', { name: 'Approve and offer 1 tool' });
    expect(await page.getByRole('combobox', { name: 'Effect of find' }).textContent()).toContain(
      'Reads only',
    );
    expect(await page.getByRole('combobox', { name: 'Permission of find' }).textContent()).toContain('Ask');
    await picture(page, 'review');
    expect(await axeViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'review-dark');
    await page.setViewportSize({ width: 360, height: 800 });
    await fitsWindow(page);
    await picture(page, 'review-phone');
    await page.setViewportSize({ width: 1280, height: 900 });
    await tabTo(page, approval);
    await page.keyboard.press('Enter');
    await page.getByText('current', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Agent' }).click();
    await page.getByRole('option', { name: /Helper/ }).click();
    await page.getByRole('button', { name: 'Add example' }).click();
    await page.getByText('has this server.').waitFor();
    await picture(page, 'reviewed');
    const { body } = await fixture.api.get(`/agents/${agentId}/extensions`);
    expect(body.data.mcp_servers).toMatchObject([{ name: 'example', state: 'ready', offered_count: 1 }]);

    await page.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Delete/ })
      .click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(await page.getByRole('dialog').getByRole('alert').textContent()).toMatch(/in use|has/i);
    await picture(page, 'delete-in-use');
    expect(consoleMessages.filter((text) => !text.includes('409'))).toEqual([]);
    await page.context().close();
  });

  it('show the problem of a probe by its code', async () => {
    const id = await createServer('refused', 'https://127.0.0.1:9/mcp');
    const { page } = await fixture.open(`/mcp-servers/${id}`);
    await page.getByRole('button', { name: 'Probe', exact: true }).click();
    await page.getByText('address_refused', { exact: true }).waitFor();
    await page.getByText('unreachable', { exact: true }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.context().close();
  });

  it('show a changed tool word by word and accept the unchanged tools', async () => {
    remote.tools = { find: FIND, send: { description: 'Sends one message.' } };
    const id = await createServer('changing');
    await approve(id);
    remote.tools = { find: FIND, send: { description: 'Sends all messages.' } };
    const { page } = await fixture.open(`/mcp-servers/${id}`);
    await page.getByRole('button', { name: 'Probe', exact: true }).click();
    const send = page.getByRole('listitem', { name: 'send' });
    await send.locator('ins', { hasText: 'all' }).waitFor();
    await send.locator('del', { hasText: 'one' }).waitFor();
    expect(await page.getByRole('listitem', { name: 'find' }).count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, 'review-changed');
    await page.getByRole('button', { name: 'Accept unchanged tools only' }).click();
    await page.getByText('The unchanged tools were approved. The others wait for review.').waitFor();
    const { body } = await fixture.api.get(`${pathOf(id)}/catalogue`);
    expect(body.data.tools).toMatchObject([
      { name: 'find', rule: { offered: true } },
      { name: 'send', description: 'Sends one message.', rule: { offered: true } },
    ]);
    // The changed tool still waits, with its difference to the review.
    await page.getByText('changed', { exact: true }).first().waitFor();
    await send.locator('del', { hasText: 'one' }).waitFor();
    await page.getByRole('button', { name: 'Approve and offer 2 tools' }).click();
    await page.getByText('current', { exact: true }).waitFor();
    await page.context().close();
  });

  it('keep decisions about equal tools when the catalogue changes before the approval', async () => {
    remote.tools = { find: FIND, send: { description: 'Sends.' } };
    const id = await createServer('racing');
    await fixture.api.post(`${pathOf(id)}/probe`, {});
    const { page } = await fixture.open(`/mcp-servers/${id}`);
    await page.getByRole('combobox', { name: 'Permission of find' }).click();
    await page.getByRole('option', { name: 'Allow' }).click();
    await page.getByRole('combobox', { name: 'Permission of send' }).click();
    await page.getByRole('option', { name: 'Deny' }).click();
    remote.tools = { find: FIND, send: { description: 'Sends more.' } };
    await fixture.api.post(`${pathOf(id)}/probe`, {});
    const approval = page.getByRole('button', { name: 'Approve and offer 2 tools' });
    await approval.click();
    await page.getByRole('alert').filter({ hasText: 'The server has changed its tools' }).waitFor();
    await page.getByText('Sends more.').waitFor();
    expect(await page.getByRole('combobox', { name: 'Permission of find' }).textContent()).toContain('Allow');
    expect(await page.getByRole('combobox', { name: 'Permission of send' }).textContent()).toContain('Ask');
    await approval.click();
    await page.getByText('current', { exact: true }).waitFor();
    await page.context().close();
  });

  it('edit the settings of a server and report a concurrent change', async () => {
    const id = await createServer('edited');
    const { page } = await fixture.open(`/mcp-servers/${id}?tab=settings`);
    await page.getByLabel('Time limit in seconds').fill('90');
    await fixture.api.send('PATCH', pathOf(id), { description: 'Of another user' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Another user changed this MCP server while you were editing.').waitFor();
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
    const { body } = await fixture.api.get(pathOf(id));
    expect(body.data).toMatchObject({ timeout_seconds: 90, description: 'Of another user' });
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Disable MCP server' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    await picture(page, 'settings');
    await page.context().close();
  });

  it('set the client for OAuth and keep its secret in its field only', async () => {
    const { page } = await fixture.open('/mcp-servers/new');
    const stored = async () => canaries.in(await page.evaluate<string>(PAGE_STORAGE));
    await page.getByLabel('Name').fill('oauth-client');
    await page.getByLabel('URL').fill('https://mcp.example.com/mcp');
    expect(await page.getByLabel('Client id').count()).toBe(0);
    await page
      .getByRole('radio', { name: /^Personal/ })
      .first()
      .click();
    const secret = page.getByLabel('Client secret');
    expect(await secret.getAttribute('type')).toBe('password');
    expect(await secret.getAttribute('autocomplete')).toBe('off');
    await secret.fill(canaries.create('first'));
    const create = page.getByRole('button', { name: 'Create MCP server' });
    await create.click();
    await page.getByText('Enter the client to which the secret belongs.').waitFor();
    await page.getByLabel('Issuer').fill('https://login.example.com');
    await page.getByLabel('Client id').fill('ahs');
    await page.getByLabel('Scopes').fill('read  write');
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, 'oauth');
    // A failed request takes the secret, which must then be entered again.
    await page.route('**/admin/mcp-servers', (route) => route.abort());
    await create.click();
    await page.getByText('Enter the secret again.').waitFor();
    expect(await secret.inputValue()).toBe('');
    expect(await stored()).toEqual([]);
    await page.unroute('**/admin/mcp-servers');
    await secret.fill(canaries.create('second'));
    await create.click();
    await page.getByRole('heading', { level: 1, name: 'oauth-client' }).waitFor();
    expect(await stored()).toEqual([]);
    const id = page.url().split('/').at(-1) ?? '';
    const oauth = async () => (await fixture.api.get(pathOf(id))).body.data.oauth;
    const expected = { issuer: 'https://login.example.com', client_id: 'ahs', scopes: ['read', 'write'] };
    expect(await oauth()).toEqual({ ...expected, has_client_secret: true });

    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByText('A secret is stored.').waitFor();
    const save = page.getByRole('button', { name: 'Save' });
    await page.getByLabel('Scopes').fill('read');
    await save.click();
    await page.getByText('Saved.').first().waitFor();
    expect(await oauth()).toEqual({ ...expected, scopes: ['read'], has_client_secret: true });
    await secret.fill(canaries.create('discarded'));
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await secret.inputValue()).toBe('');
    await page.getByLabel('Client id').fill('other');
    await secret.fill(canaries.create('third'));
    await save.click();
    await save.waitFor({ state: 'detached' });
    expect(await secret.inputValue()).toBe('');
    expect(await stored()).toEqual([]);
    expect(await oauth()).toMatchObject({ client_id: 'other', has_client_secret: true });
    expect(await axeViolations(page)).toEqual([]);
    await page.context().close();
  });

  it('choose the servers of an agent in the Extensions tab and guard unsaved changes', async () => {
    const id = await createServer('chosen');
    await approve(id);
    const agentId = await fixture.api.createAgent();
    const { page } = await fixture.open(`/agents/${agentId}?tab=extensions`);
    await page.getByRole('checkbox', { name: 'chosen' }).check();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
    await page.getByText('Version 2').waitFor();
    await picture(page, 'extensions');
    expect(await axeViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await fitsWindow(page);
    await picture(page, 'extensions-phone');
    const { body } = await fixture.api.get(`/agents/${agentId}/extensions`);
    expect(body.data.mcp_server_ids).toEqual([id]);
    await page.context().close();
  });
});
