import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations, type ConsoleFixture, startConsole } from './console-fixture.ts';

describe('environment pages', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const saved = (page: Page) => page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  const isWrong = (page: Page, label: string) =>
    page.getByLabel(label, { exact: true }).and(page.locator('[aria-invalid=true]:focus')).waitFor();

  it('show rejected settings at their fields', async () => {
    const { page } = await fixture.open('/environments/new');
    await page.getByLabel('Name').fill('builds');
    await choose(page, 'Provider', 'Simulated');
    await choose(page, 'Network', 'Limited');
    await page.getByLabel('Processes').fill('50');
    await page.getByRole('button', { name: 'Create environment' }).click();
    await page.getByLabel('Processes').and(page.locator('[aria-invalid=true]')).waitFor();
    const refused = page.getByRole('alert').filter({ hasText: 'Is not supported: the provider simulated' });
    expect(await refused.count()).toBe(2);
    await page.getByLabel('Processes').fill('');
    await choose(page, 'Network', 'None');
    await page.getByRole('button', { name: 'Create environment' }).click();
    await page.getByRole('heading', { name: 'builds' }).waitFor();
    await page.getByLabel('Memory').fill('64');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Disable environment' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    const change = page.getByRole('region', { name: 'Enabled' });
    expect(await change.getByRole('deletion').textContent()).toContain('Yes');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete environment' }).click();
    await page.waitForURL(/\/environments$/);
    await page.getByRole('link', { name: 'default' }).waitFor();
    await page.context().close();
  });

  it('keep the edits when the service rejects them', async () => {
    const { page } = await fixture.open('/environments/new', { width: 360 });
    await page.getByLabel('Name').fill('kept');
    await choose(page, 'Network', 'Limited');
    await page.getByLabel('Allowed hosts').fill('example.com\nnot a host');
    const create = page.getByRole('button', { name: 'Create environment' });
    await create.click();
    await page.getByText('Entry 2 is not a host name.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Environments' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Stay' }).click();
    await choose(page, 'Network', 'None');
    let keys: (string | undefined)[] = [];
    await page.route('**/api/v1/admin/environments', async (route) => {
      keys = [...keys, route.request().headers()['idempotency-key']];
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await create.click();
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await create.click();
    await page.getByRole('heading', { name: 'kept' }).waitFor();
    expect(new Set(keys).size).toBe(1);
    await page.unrouteAll({ behavior: 'wait' });

    const environment = new URL(page.url()).pathname.split('/')[2];
    await fixture.api.createAgent({ name: 'In it', environment_id: environment });
    const remove = page.getByRole('button', { name: 'Delete' });
    await remove.click();
    await page.getByRole('button', { name: 'Delete environment' }).click();
    await page.getByRole('dialog').getByText('1 agent or assistant uses').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await remove.and(page.locator(':focus')).waitFor();

    await page.route('**/api/v1/admin/environments/*', (route) => route.abort());
    await page.reload();
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'kept' }).waitFor();
    await page.context().close();
  });

  it('offer supported settings and keep saved unsupported ones', async () => {
    const made = await fixture.api.post('/admin/environments', { name: 'of-another-release' });
    const id = String(made.body.data.environment_id);
    const { page } = await fixture.open('/environments/new');
    expect(await offered(page, 'Provider')).toEqual(['Automatic', 'Simulated', 'Bubblewrap']);
    expect(await offered(page, 'Network')).toEqual(['None', 'Limited']);
    expect(await page.getByLabel('Image').count()).toBe(0);

    const sent: unknown[] = [];
    await page.route(`**/api/v1/admin/environments/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') sent.push(route.request().postDataJSON());
      const response = await route.fetch({ method: 'GET', postData: undefined });
      const body = await response.json();
      Object.assign(body.data.sandbox, { provider: 'docker', image: 'builds:1' });
      body.data.network.mode = 'unrestricted';
      await route.fulfill({ response, json: body });
    });
    await page.goto(`/environments/${id}`);
    await page.getByRole('combobox', { name: 'Provider' }).filter({ hasText: 'Docker' }).waitFor();
    await page.getByRole('combobox', { name: 'Network' }).filter({ hasText: 'Unrestricted' }).waitFor();
    expect(await page.getByLabel('Image').inputValue()).toBe('builds:1');
    // The saved value stays selectable after another selection.
    await choose(page, 'Provider', 'Simulated');
    expect(await offered(page, 'Provider')).toEqual(['Automatic', 'Simulated', 'Bubblewrap', 'Docker']);
    await choose(page, 'Provider', 'Docker');
    await page.getByLabel('Idle timeout').fill('60');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    expect(sent).toEqual([{ idle: { timeout_seconds: 60, action: 'suspend' } }]);
    await page.unrouteAll({ behavior: 'wait' });
    await page.context().close();
  });

  it('show a duplicate name at the name field', async () => {
    const { page } = await fixture.open('/environments/new');
    await page.getByLabel('Name').fill('default');
    await page.getByRole('button', { name: 'Create environment' }).click();
    await isWrong(page, 'Name');
    await page.getByText('Must be unique; another environment has this name.').waitFor();
    await page.getByText('1 field has an invalid value.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel('Name').fill('not-default');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'not-default' }).waitFor();
    await page.context().close();
  });
});

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option }).click();
}

async function offered(page: Page, label: string): Promise<string[]> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option').first().waitFor();
  const options = await page.getByRole('option').allTextContents();
  await page.keyboard.press('Escape');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
  return options;
}
