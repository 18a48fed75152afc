import { mkdir } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Canaries } from '../../support/canaries.ts';
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

describe('vault pages', () => {
  let fixture: ConsoleFixture;
  const canaries = new Canaries();
  beforeAll(async () => {
    fixture = await startConsole();
    if (PICTURES) await mkdir(PICTURES, { recursive: true });
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const picture = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  const stored = async (page: Page) => canaries.in(await page.evaluate<string>(PAGE_STORAGE));
  const menu = async (page: Page, name: string, item: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };

  async function createVault(name: string): Promise<string> {
    const { body } = await fixture.api.post('/admin/vaults', { name });
    return String(body.data.vault_id);
  }

  it('create a vault by keyboard and show the credentials of each type with their status', async () => {
    const { page, consoleMessages } = await fixture.open('/vaults');
    await page.getByText('No vaults yet.').waitFor();
    await page.keyboard.press('n');
    await page.getByLabel('Name').fill('Deployment keys');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Deployment keys' }).waitFor();
    await page.getByText('No credentials yet.').waitFor();
    await picture(page, 'vault-empty');

    const create = async (type: string, fields: Record<string, string>, secret: string, text: string) => {
      const open = page.getByRole('button', { name: 'New credential' });
      await tabTo(page, open);
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'New credential' });
      await dialog.getByRole('combobox', { name: 'Type' }).click();
      await page.getByRole('option', { name: type, exact: true }).click();
      if (fields.Host !== undefined) await dialog.getByRole('radio', { name: 'A host' }).click();
      for (const [label, value] of Object.entries(fields))
        await dialog.getByLabel(label, { exact: true }).fill(value);
      const input = dialog.getByLabel(secret, { exact: true });
      expect(await input.getAttribute('type')).toBe('password');
      expect(await input.getAttribute('autocomplete')).toBe('off');
      await input.fill(text);
      await picture(page, `credential-${type.toLowerCase().replaceAll(' ', '-')}`);
      await input.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      expect(await stored(page)).toEqual([]);
    };
    const url = 'https://mcp.example.com/mcp';
    const bearer = { 'Label (optional)': 'Search', 'URL of the MCP server': url };
    await create('Bearer token', bearer, 'Token', canaries.create('bearer'));
    const header = {
      'Label (optional)': 'Index',
      Host: 'api.example.com',
      'Name of the header': 'X-Api-Key',
    };
    await create('Header', header, 'Value', canaries.create('header'));
    const basic = { 'Label (optional)': 'Repository', Host: 'git.example.com', 'User name': 'deploy' };
    await create('User name and password', basic, 'Password', canaries.create('basic'));
    const variable = {
      'Name of the variable': 'GITHUB_TOKEN',
      'Allowed hosts': 'api.github.com\ngithub.com',
    };
    await create('Environment variable', variable, 'Value', canaries.create('variable'));
    await create('Model key', { 'Model provider': 'anthropic' }, 'Key', canaries.create('model'));
    for (const name of ['Search', 'Index', 'Repository', 'GITHUB_TOKEN', 'anthropic'])
      await page.getByRole('rowheader', { name }).waitFor();
    expect(await page.getByText('active', { exact: true }).count()).toBe(5);
    await page.getByText('api.github.com, github.com').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, 'vault');
    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByRole('button', { name: 'Actions for Search' }).waitFor();
    await fitsWindow(page);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, 'vault-phone');
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('empty the secret with each submission, and show errors at their fields', async () => {
    const vault = await createVault('Refused');
    const { page } = await fixture.open(`/vaults/${vault}`);
    await page.getByRole('button', { name: 'New credential' }).click();
    const dialog = page.getByRole('dialog', { name: 'New credential' });
    const submit = dialog.getByRole('button', { name: 'Create credential' });
    await dialog.getByLabel('URL of the MCP server').fill('https://127.0.0.1/mcp');
    await submit.click();
    await dialog.getByRole('alert').filter({ hasText: 'Enter the secret.' }).waitFor();
    const token = dialog.getByLabel('Token', { exact: true });
    await token.fill(canaries.create('refused'));
    await submit.click();
    await dialog.getByLabel('URL of the MCP server').and(page.locator('[aria-invalid=true]')).waitFor();
    expect(await token.inputValue()).toBe('');
    expect(await stored(page)).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, 'credential-refused');

    await dialog.getByLabel('URL of the MCP server').fill('https://mcp.example.com/mcp');
    await page.route('**/credentials', (route) => route.abort());
    await token.fill(canaries.create('aborted'));
    await submit.click();
    await dialog.getByText('The service cannot be reached.').waitFor();
    expect(await token.inputValue()).toBe('');
    expect(await stored(page)).toEqual([]);
    await page.context().close();
  });

  it('test, replace, disable and delete a credential', async () => {
    const vault = await createVault('Actions');
    const path = `/admin/vaults/${vault}/credentials`;
    const creation = { type: 'model_key', label: 'Model', provider: 'openai', key: canaries.create('first') };
    const created = await fixture.api.post(path, creation);
    const { page } = await fixture.open(`/vaults/${vault}`);
    await menu(page, 'Model', 'Test');
    await page.getByText('The secret can be decrypted.').first().waitFor();
    await menu(page, 'Model', 'Replace secret');
    const dialog = page.getByRole('dialog', { name: 'Replace the secret of Model' });
    await dialog.getByLabel('Key', { exact: true }).fill(canaries.create('second'));
    await dialog.getByRole('button', { name: 'Replace secret' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await stored(page)).toEqual([]);
    const { body } = await fixture.api.get(`${path}/${created.body.data.credential_id}`);
    expect(body.data.fingerprint).not.toBe(created.body.data.fingerprint);
    await page.getByText(String(body.data.fingerprint)).waitFor();
    await menu(page, 'Model', 'Disable');
    await page.getByRole('button', { name: 'Disable credential' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    await menu(page, 'Model', 'Delete');
    await page.getByRole('button', { name: 'Delete credential' }).click();
    await page.getByText('No credentials yet.').waitFor();
    await page.context().close();
  });

  it('show the progress of a rotation', async () => {
    const vault = await createVault('Rotated');
    const creation = { type: 'model_key', provider: 'openai', key: canaries.create('rotated') };
    await fixture.api.post(`/admin/vaults/${vault}/credentials`, creation);
    const { page } = await fixture.open(`/vaults/${vault}`);
    await page.getByRole('button', { name: 'Rotate keys' }).click();
    await page.getByRole('button', { name: 'Rotate key', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Rotation of keys' });
    await dialog.getByText('The rotation is done.').waitFor();
    await dialog.getByText('1 of 1').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, 'rotation');
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await page.getByRole('button', { name: 'Rotate keys' }).and(page.locator(':focus')).waitFor();
    await page.context().close();
  });

  it('assign vaults to an agent in order and delete a vault only when it is not in use', async () => {
    const vaults = [await createVault('First'), await createVault('Second')];
    const agent = await fixture.api.createAgent({ name: 'Keyed' });
    const { page } = await fixture.open(`/agents/${agent}?tab=vaults`);
    await page.getByText('No vaults are assigned.').waitFor();
    for (const name of ['First', 'Second']) {
      await page.getByRole('combobox', { name: 'Vault to add' }).click();
      await page.getByRole('option', { name, exact: true }).click();
      await page.getByRole('button', { name: 'Add vault' }).click();
      await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
    }
    const assigned = async () => (await fixture.api.get(`/admin/agents/${agent}/vaults`)).body.data.vault_ids;
    expect(await assigned()).toEqual(vaults);
    await page.getByRole('button', { name: 'Move Second up' }).click();
    await page
      .getByRole('list', { name: 'Assigned vaults' })
      .getByRole('listitem')
      .first()
      .getByText('Second')
      .waitFor();
    expect(await assigned()).toEqual(vaults.toReversed());
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, 'assignments');

    await page.getByRole('link', { name: 'Second' }).click();
    // The page of the agent has a button of the same name.
    await page.getByRole('heading', { name: 'Second', level: 1 }).waitFor();
    const remove = page.getByRole('button', { name: 'Delete', exact: true });
    await remove.click();
    const dialog = page.getByRole('dialog', { name: 'Delete Second?' });
    await dialog.getByText('This vault is in use: one agent or assistant has it.').waitFor();
    await dialog.getByRole('button', { name: 'Delete vault' }).click();
    await dialog.getByRole('alert').waitFor();
    await picture(page, 'vault-in-use');
    await page.keyboard.press('Escape');
    await fixture.api.send('PUT', `/admin/agents/${agent}/vaults`, { vault_ids: [] });
    await remove.click();
    await page.getByRole('button', { name: 'Delete vault' }).click();
    await page.waitForURL(/\/vaults$/);
    expect((await fixture.api.get(`/admin/vaults/${vaults[1]}`)).status).toBe(404);
    await page.context().close();
  });
});
