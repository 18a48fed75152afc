import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { openStage, type Stage, seriousFindings, tabTo } from './stage.ts';

const LONG = `Support مساعد الدعم 🤖 ${'and on '.repeat(20)}`.trim();

describe('agents in the console', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const agentAt = (page: Page) => new URL(page.url()).pathname.split('/')[2] ?? '';
  const saved = (page: Page) => page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });

  it('are created, changed, compared and spoken to by keyboard alone', async () => {
    const { page, complaints } = await stage.open('/agents');
    const keys = page.keyboard;
    await page.getByRole('link', { name: 'Create your first agent' }).waitFor();
    await keys.press('n');
    await page.getByRole('heading', { name: 'New agent' }).waitFor();
    await tabTo(page, page.getByLabel('Name'));
    await keys.press('Enter');
    // What is missing is said, and has the focus.
    await page.getByText('Give it a name.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor();
    await keys.type(LONG);
    await tabTo(page, page.getByRole('combobox', { name: 'Model' }));
    await keys.type('rehearsal/echo');
    // What is suggested the browser shows by itself.
    expect(await page.locator('datalist option').first().getAttribute('value')).toBe('rehearsal/echo');
    await tabTo(page, page.getByLabel('System prompt'));
    await keys.type('Be kind.\nBe short.');
    await tabTo(page, page.getByLabel('Model options'));
    await keys.type('{"steps": 1');
    await keys.press('Tab');
    await page.getByText('This is not JSON').waitFor();
    await keys.press('Shift+Tab');
    await keys.press('End');
    await keys.type('}');
    await tabTo(page, page.getByRole('combobox', { name: 'Permission of bash' }));
    await keys.press('Enter');
    await page.getByRole('option', { name: 'Ask' }).waitFor();
    await keys.type('ask');
    await keys.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Create agent' }));
    await keys.press('Enter');
    await page.getByRole('heading', { name: LONG }).waitFor();
    const { body } = await stage.api.get(`/agents/${agentAt(page)}`);
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
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('are not overwritten when somebody else has changed them, and nothing is lost', async () => {
    const id = await stage.api.createAgent({ name: 'Shared', system: 'One.' });
    const { page } = await stage.open(`/agents/${id}`);
    const prompt = page.getByLabel('System prompt');
    await prompt.fill('One.\nMine.');
    await stage.api.send('PATCH', `/agents/${id}`, { system: 'One.\nTheirs.', max_steps: 7 });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody has changed this agent since you began.').waitFor();
    await page.getByRole('button', { name: 'Show the difference' }).click();
    const difference = page.getByRole('dialog').getByRole('region', { name: 'System prompt' });
    await difference.getByText('Mine.').waitFor();
    expect(await difference.getByRole('deletion').textContent()).toContain('Theirs.');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    expect(await prompt.inputValue()).toBe('One.\nMine.');
    expect(await page.getByLabel('Steps').inputValue()).toBe('7');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    const { body } = await stage.api.get(`/agents/${id}`);
    expect(body.data).toMatchObject({ system: 'One.\nMine.', max_steps: 7, version: 3 });

    // A slip loses nothing either.
    await prompt.fill('Not saved');
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('tab', { name: 'Settings' }).click();
    expect(await prompt.inputValue()).toBe('Not saved');
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Stay' }).click();
    expect(await prompt.inputValue()).toBe('Not saved');
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await prompt.inputValue()).toBe('One.\nMine.');
    await page.context().close();
  });

  it('are shared, found and deleted', async () => {
    const id = await stage.api.createAgent({ name: 'To share' });
    const { page } = await stage.open(`/agents/${id}?tab=access`);
    await page.getByRole('radio', { name: 'Listed' }).click();
    await page.getByRole('textbox', { name: 'Groups' }).fill('support');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    const { body } = await stage.api.get(`/agents/${id}/access`);
    expect(body.data).toMatchObject({ visibility: 'allowlist', groups: ['support'] });
    await page.getByRole('link', { name: 'Agents', exact: true }).first().click();
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('To sh');
    await page.waitForURL(/\?q=To/);
    await page.getByRole('cell', { name: 'Listed' }).waitFor();
    await page.getByRole('link', { name: 'To share' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete agent' }).click();
    await page.waitForURL(/\/agents$/);
    expect((await stage.api.get(`/agents/${id}`)).status).toBe(404);
    await page.goto(`/agents/${id}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.context().close();
  });

  it('are made also where the list of environments breaks off: it is not asked for for ever', async () => {
    const { page } = await stage.open('/');
    let asked = 0;
    await page.route('**/api/v1/admin/environments*', async (route) => {
      if (new URL(route.request().url()).searchParams.has('cursor')) {
        asked++;
        return route.continue();
      }
      const response = await route.fetch();
      const body = await response.json();
      return route.fulfill({ response, json: { ...body, page: { next_cursor: 'no such place' } } });
    });
    await page.goto('/agents/new');
    await until('more was asked for', async () => asked > 0);
    await page.getByLabel('Name').fill('All the same');
    await page.getByLabel('Model', { exact: true }).fill('rehearsal/echo');
    await page.keyboard.press('Tab');
    await choose(page, 'Permission of bash', 'Deny');
    expect(asked).toBe(1);
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { name: 'All the same' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.context().close();
  });

  it('are shared, and nobody is overruled who shares them at the same time', async () => {
    const id = await stage.api.createAgent({ name: 'Shared' });
    const { page } = await stage.open(`/agents/${id}?tab=access`);
    await page.getByRole('radio', { name: 'Everybody' }).click();
    await page.getByText('There are changes that are not saved.').waitFor();
    const theirs = { visibility: 'allowlist', users: [], groups: ['support'], managers: [] };
    expect((await stage.api.send('PUT', `/agents/${id}/access`, theirs)).status).toBe(200);
    // Whoever comes back to the page hears of it.
    await until('it is said', async () => {
      await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      return (await page.getByText('Somebody has changed this agent since you began.').count()) > 0;
    });
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    const { body } = await stage.api.get(`/agents/${id}/access`);
    expect(body.data).toMatchObject({ visibility: 'public', groups: ['support'] });
    await page.context().close();
  });

  it('which are assistants have a workspace instead of versions', async () => {
    const { page } = await stage.open('/assistants/new');
    await page.getByLabel('Name').fill('Desk');
    await page.getByLabel('Model', { exact: true }).fill('rehearsal/shell');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Create assistant' }).click();
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByText('Nothing was ever in it').waitFor();
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
