import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations, type ConsoleFixture, fitsWindow, startConsole } from './console-fixture.ts';

describe('home page', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  it('guides a new user from the first click to a finished report', async () => {
    const { page, consoleMessages } = await fixture.open('/');
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    const conversation = page.getByRole('region', { name: 'Conversation' });
    await step('Create an agent').getByText('(to do)').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create the demo agent' }).click();
    await step('Create an agent').getByText('(done)').waitFor();
    await page.getByRole('textbox', { name: 'Message to Demo' }).fill('Good morning');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/\/sessions\/ses_/);
    await conversation.getByText('Good morning').waitFor();
    await page.getByText('Waiting for your decision on edit_file.').waitFor();
    await conversation.getByText('Reasoning').first().waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await conversation.getByText('Replaced 1 place in report.md').last().waitFor();
    await page.getByText('Completed', { exact: true }).waitFor();
    await conversation.getByRole('link', { name: 'report.md' }).last().click();
    await page.getByRole('tab', { name: 'Files', selected: true }).waitFor();
    await page.getByText('222 more visitors').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { name: 'Your first session has finished' }).waitFor();
    await step('Watch it finish').getByText('(done)').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Open the finished session' }).click();
    await conversation.getByText('Good morning').waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('shows the system parts and hides the checklist permanently', async () => {
    const { page } = await fixture.open('/', { width: 360 });
    await page.getByRole('region', { name: 'This system' }).getByText('rehearsal/echo').waitFor();
    await fitsWindow(page);
    await page.getByRole('button', { name: 'Hide checklist' }).click();
    await page.reload();
    await page.getByRole('heading', { name: 'Recent sessions' }).waitFor();
    expect(await page.getByRole('button', { name: 'Hide checklist' }).count()).toBe(0);
    await page.context().close();
  });

  it('applies the selected theme on the first paint', async () => {
    const { page } = await fixture.open('/', { theme: 'light' });
    await page.getByRole('button', { name: 'Local mode' }).click();
    await page.getByRole('menuitem', { name: 'Dark theme' }).click();
    const isDark = `getComputedStyle(document.documentElement).colorScheme === 'dark'`;
    expect(await page.evaluate(isDark)).toBe(true);
    await page.reload({ waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await page.evaluate(isDark)).toBe(true);
    await page.context().close();
  });

  it('keeps its content without a network and reconnects automatically', async () => {
    const { page, context } = await fixture.open('/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await context.setOffline(true);
    await page.getByRole('navigation').getByRole('link', { name: 'Administration' }).click();
    await page.getByText('No network. The page reconnects automatically.').waitFor();
    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Administration' }).waitFor();
    await page.context().close();
  });

  it('reloads for a newer release once there are no unsaved changes', async () => {
    const agent = await fixture.api.createAgent();
    const { page } = await fixture.open(`/agents/${agent}`);
    const prompt = page.getByLabel('System prompt');
    await prompt.fill('Be kind.');
    const replaced = '**/assets/deployments-*.js';
    await page.route(replaced, (route) => route.abort());
    await page.route(
      ({ pathname }) => pathname === '/',
      (route) => route.fulfill({ contentType: 'text/html', body: '<p>Another release' }),
    );
    const requested = page.waitForRequest(replaced);
    await page.getByRole('navigation').getByRole('link', { name: 'Deployments' }).hover();
    await requested;
    await page.getByText('The page reloads after you save your changes.').waitFor();
    expect(await prompt.inputValue()).toBe('Be kind.');
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Save' }).click();
    await loaded;
    await page.getByText('Be kind.').waitFor();
    await page.context().close();
  });

  it('retries after Retry-After and shows an error for a longer delay', async () => {
    // A page that requests no agents: a late request of it would be counted.
    const { page } = await fixture.open('/tokens');
    await fixture.api.createAgent();
    const asked: number[] = [];
    let seconds = 600;
    await page.route('**/api/v1/agents*', (route) => {
      asked.push(seconds);
      const error = { code: 'RATE_LIMITED', retryable: true, user_message: 'Too many requests.' };
      const json = { code: 'RATE_LIMITED', data: { retry_after_seconds: seconds }, error };
      if (seconds === 0) return route.continue();
      // Only one request fails with a short delay.
      if (seconds === 1) seconds = 0;
      return route.fulfill({ status: 429, json });
    });
    await page.goto('/agents');
    await page.getByText('Too many requests.').waitFor();
    // Requested by the route loader, and again by a page that rendered later.
    expect(asked.length).toBeLessThanOrEqual(2);
    seconds = 1;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'Echo' }).first().waitFor();
    expect(asked).toContain(1);
    await page.context().close();
  });

  it('retries the login request that every page needs', async () => {
    const { page } = await fixture.open('/');
    await page.route('**/auth/session', (route) => route.abort());
    await page.goto('/agents');
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await again.click();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    await page.context().close();
  });
});
