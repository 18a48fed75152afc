import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, startConsole, tabTo } from './console-fixture.ts';

const LONG = `Support مساعد الدعم 🤖 ${'and on '.repeat(20)}`.trim();

describe('agent pages', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const agentAt = (page: Page) => new URL(page.url()).pathname.split('/')[2] ?? '';
  const saved = (page: Page) => page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });

  it('create, change, compare and start a conversation with the keyboard only', async () => {
    const { page, consoleMessages } = await fixture.open('/agents');
    const keys = page.keyboard;
    await page.getByRole('link', { name: 'Create your first agent' }).waitFor();
    await keys.press('n');
    await page.getByRole('heading', { name: 'New agent' }).waitFor();
    await tabTo(page, page.getByLabel('Name'));
    await keys.press('Enter');
    // The missing field shows an error and gets the focus.
    await page.getByText('Enter a name.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor();
    await keys.type(LONG);
    await tabTo(page, page.getByRole('combobox', { name: 'Model' }));
    await keys.type('rehearsal/echo');
    // The browser renders the suggestions natively.
    expect(await page.locator('datalist option').first().getAttribute('value')).toBe('rehearsal/echo');
    await tabTo(page, page.getByLabel('System prompt'));
    await keys.type('Be kind.\nBe short.');
    await tabTo(page, page.getByLabel('Model options'));
    await keys.type('{"steps": 1');
    await keys.press('Tab');
    await page.getByText('Invalid JSON').waitFor();
    await keys.press('Shift+Tab');
    await keys.press('End');
    await keys.type('}');
    await tabTo(page, page.getByRole('combobox', { name: 'Permission for bash' }));
    await keys.press('Enter');
    const ask = page.getByRole('option', { name: 'Ask' });
    await ask.waitFor();
    // The open list gets the focus later than it appears.
    await page.locator('[data-base-ui-portal] :focus').waitFor();
    await until('Ask is highlighted', async () => {
      if ((await ask.and(page.locator('[data-highlighted]')).count()) > 0) return true;
      await keys.press('ArrowDown');
      return false;
    });
    await keys.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Create agent' }));
    await keys.press('Enter');
    await page.getByRole('heading', { name: LONG }).waitFor();
    const { body } = await fixture.api.get(`/agents/${agentAt(page)}`);
    expect(body.data).toMatchObject({
      name: LONG,
      model: 'rehearsal/echo',
      system: 'Be kind.\nBe short.',
      model_options: { steps: 1 },
      tools: [{ name: 'bash', permission: 'ask' }],
    });

    await tabTo(page, page.getByLabel('System prompt'));
    await keys.press('Control+End');
    await keys.type('\nThank people.');
    await tabTo(page, page.getByRole('button', { name: 'Save' }));
    await keys.press('Enter');
    await saved(page);
    await page.getByText('Version 2').waitFor();
    await keys.press('Control+Home');
    await tabTo(page, page.getByRole('tab', { name: 'Settings' }));
    await keys.press('ArrowRight');
    await keys.press('Enter');
    const prompt = page.getByRole('region', { name: 'System prompt' });
    await prompt.getByText('Thank people.').waitFor();
    expect(await prompt.getByRole('insertion').allTextContents()).toEqual(['Added: Thank people.']);
    expect(await page.getByRole('region').allTextContents()).not.toContain('Model');

    await tabTo(page, page.getByRole('button', { name: 'Start a conversation' }));
    await keys.press('Enter');
    await tabTo(page, page.getByLabel('First message'));
    await keys.type('Hello there');
    await keys.press('Control+Enter');
    await page.waitForURL(/\/sessions\/ses_/);
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('detect a concurrent change on save and lose no edits', async () => {
    const id = await fixture.api.createAgent({ name: 'Shared', system: 'One.' });
    const { page } = await fixture.open(`/agents/${id}`);
    const prompt = page.getByLabel('System prompt');
    await prompt.fill('One.\nMine.');
    await fixture.api.send('PATCH', `/agents/${id}`, { system: 'One.\nTheirs.', max_steps: 7 });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Another user changed this agent while you were editing.').waitFor();
    await page.getByRole('button', { name: 'Show differences' }).click();
    const difference = page.getByRole('dialog').getByRole('region', { name: 'System prompt' });
    await difference.getByText('Mine.').waitFor();
    expect(await difference.getByRole('deletion').textContent()).toContain('Theirs.');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    expect(await prompt.inputValue()).toBe('One.\nMine.');
    expect(await page.getByLabel('Steps').inputValue()).toBe('7');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    const { body } = await fixture.api.get(`/agents/${id}`);
    expect(body.data).toMatchObject({ system: 'One.\nMine.', max_steps: 7, version: 3 });

    // Leaving the page by accident asks for a confirmation.
    await prompt.fill('Not saved');
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('tab', { name: 'Settings' }).click();
    expect(await prompt.inputValue()).toBe('Not saved');
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Stay' }).click();
    expect(await prompt.inputValue()).toBe('Not saved');
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await prompt.inputValue()).toBe('One.\nMine.');
    await page.context().close();
  });

  it('share, find and delete an agent', async () => {
    const id = await fixture.api.createAgent({ name: 'To share' });
    const { page } = await fixture.open(`/agents/${id}?tab=access`);
    await page.getByRole('radio', { name: 'Restricted' }).click();
    await page.getByRole('textbox', { name: 'Groups' }).fill('support');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    const { body } = await fixture.api.get(`/agents/${id}/access`);
    expect(body.data).toMatchObject({ visibility: 'allowlist', groups: ['support'] });
    await page.getByRole('link', { name: 'Agents', exact: true }).first().click();
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('To sh');
    await page.waitForURL(/\?q=To/);
    await page.getByRole('cell', { name: 'Restricted' }).waitFor();
    await page.getByRole('link', { name: 'To share' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete agent' }).click();
    await page.waitForURL(/\/agents$/);
    expect((await fixture.api.get(`/agents/${id}`)).status).toBe(404);
    await page.goto(`/agents/${id}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.context().close();
  });

  it('create an agent when the list of environments fails, without endless retries', async () => {
    const { page } = await fixture.open('/');
    let requests = 0;
    await page.route('**/api/v1/admin/environments*', async (route) => {
      if (new URL(route.request().url()).searchParams.has('cursor')) {
        requests++;
        return route.continue();
      }
      // A full response, even if the browser has one and asks only whether it has changed.
      const { 'if-none-match': _, ...headers } = route.request().headers();
      const response = await route.fetch({ headers });
      const body = await response.json();
      return route.fulfill({ response, json: { ...body, page: { next_cursor: 'no such place' } } });
    });
    await page.goto('/agents/new');
    await until('the next page was requested', async () => requests > 0);
    await page.getByLabel('Name').fill('All the same');
    await page.getByLabel('Model', { exact: true }).fill('rehearsal/echo');
    await page.keyboard.press('Tab');
    await choose(page, 'Permission for bash', 'Deny');
    expect(requests).toBe(1);
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { name: 'All the same' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.context().close();
  });

  it('detect concurrent changes of the access settings', async () => {
    const id = await fixture.api.createAgent({ name: 'Shared' });
    const { page } = await fixture.open(`/agents/${id}?tab=access`);
    await page.getByRole('radio', { name: 'All users' }).click();
    await page.getByText('Unsaved changes').waitFor();
    const theirs = { visibility: 'allowlist', users: [], groups: ['support'], managers: [] };
    expect((await fixture.api.send('PUT', `/agents/${id}/access`, theirs)).status).toBe(200);
    // The conflict is shown when the page becomes visible again.
    await until('the conflict is shown', async () => {
      await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      return (await page.getByText('Another user changed this agent while you were editing.').count()) > 0;
    });
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    const { body } = await fixture.api.get(`/agents/${id}/access`);
    expect(body.data).toMatchObject({ visibility: 'public', groups: ['support'] });
    await page.context().close();
  });

  it('show files instead of versions for an assistant', async () => {
    const { page } = await fixture.open('/assistants/new');
    await page.getByLabel('Name').fill('Desk');
    await page.getByLabel('Model', { exact: true }).fill('rehearsal/shell');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Create assistant' }).click();
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByText('Never used').waitFor();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByLabel('Description').fill('Keeps things');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    await page.getByRole('button', { name: 'Start a conversation' }).click();
    await page.getByLabel('First message').fill('$ echo kept > note.txt');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/\/sessions\/ses_/);
    await page.context().close();
  });
});

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option }).click();
}
