import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { openStage, type Stage, seriousFindings } from './stage.ts';

describe('home', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  it('leads from nothing to a session that has finished, as the service says', async () => {
    const { page, complaints } = await stage.open('/');
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await step('Create an agent').getByText('(to do)').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create one that says what it hears' }).click();
    await step('Create an agent').getByText('(done)').waitFor();
    await page.getByRole('textbox', { name: 'Message to Echo' }).fill('Good morning');
    await page.getByRole('button', { name: 'Send' }).click();
    await step('See it finish').getByText('(done)').waitFor();
    await page.getByRole('heading', { name: 'You have seen a session finish' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Open that session' }).click();
    await page.getByRole('region', { name: 'Conversation' }).getByText('Good morning').first().waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('says which parts the system is made of, and puts the checklist away for good', async () => {
    const { page } = await stage.open('/', { width: 360 });
    await page.getByRole('region', { name: 'This system' }).getByText('rehearsal/echo').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.getByRole('button', { name: 'Hide the checklist' }).click();
    await page.reload();
    await page.getByRole('heading', { name: 'Recent sessions' }).waitFor();
    expect(await page.getByRole('button', { name: 'Hide the checklist' }).count()).toBe(0);
    await page.context().close();
  });

  it('has a theme of its own choice, from the first moment on', async () => {
    const { page } = await stage.open('/', { theme: 'light' });
    await page.getByRole('button', { name: 'Local mode' }).click();
    await page.getByRole('menuitem', { name: 'Dark theme' }).click();
    const isDark = `getComputedStyle(document.documentElement).colorScheme === 'dark'`;
    expect(await page.evaluate(isDark)).toBe(true);
    await page.reload({ waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await page.evaluate(isDark)).toBe(true);
    await page.context().close();
  });

  it('takes nothing away without a network, and goes on when it is back', async () => {
    const { page, context } = await stage.open('/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await context.setOffline(true);
    await page.getByRole('navigation').getByRole('link', { name: 'Administration' }).click();
    await page.getByText('No network. It goes on by itself when it is back.').waitFor();
    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Administration' }).waitFor();
    await page.context().close();
  });

  it('becomes a newer release as soon as nothing is lost by it', async () => {
    const agent = await stage.api.createAgent();
    const { page } = await stage.open(`/agents/${agent}`);
    const prompt = page.getByLabel('System prompt');
    await prompt.fill('Be kind.');
    await page.route('**/assets/environments-*.js', (route) => route.abort());
    await page.route(
      ({ pathname }) => pathname === '/',
      (route) => route.fulfill({ contentType: 'text/html', body: '<p>Another release' }),
    );
    await page.getByRole('navigation').getByRole('link', { name: 'Environments' }).hover();
    await page.getByText('The page becomes it as soon as your changes are saved.').waitFor();
    expect(await prompt.inputValue()).toBe('Be kind.');
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Save' }).click();
    await loaded;
    await page.getByText('Be kind.').waitFor();
    await page.context().close();
  });

  it('asks again when the service wants it to, and says so when that is later', async () => {
    const { page } = await stage.open('/');
    await stage.api.createAgent();
    const asked: number[] = [];
    let seconds = 600;
    await page.route('**/api/v1/agents*', (route) => {
      asked.push(seconds);
      const error = { code: 'RATE_LIMITED', retryable: true, user_message: 'Too many requests.' };
      const json = { code: 'RATE_LIMITED', data: { retry_after_seconds: seconds }, error };
      return seconds > 0 ? route.fulfill({ status: 429, json }) : route.continue();
    });
    await page.goto('/agents');
    await page.getByText('Too many requests.').waitFor();
    // By the route, and by the page where that has come later.
    expect(asked.length).toBeLessThanOrEqual(2);
    seconds = 1;
    await page.getByRole('button', { name: 'Try again' }).click();
    await until('it was asked again', async () => asked.at(-1) === 1);
    seconds = 0;
    await page.getByRole('link', { name: 'Echo' }).first().waitFor();
    await page.context().close();
  });

  it('begins anew when what every page needs could not be read', async () => {
    const { page } = await stage.open('/');
    await page.route('**/auth/session', (route) => route.abort());
    await page.goto('/agents');
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unroute('**/auth/session');
    await again.click();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    await page.context().close();
  });
});
