import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, startConsole } from './console-fixture.ts';

describe('pages with failed requests', () => {
  let fixture: ConsoleFixture;
  let assistant: string;
  beforeAll(async () => {
    fixture = await startConsole();
    const { body } = await fixture.api.post('/assistants', { name: 'Desk', model: 'rehearsal/echo' });
    assistant = String(body.data.assistant_id);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const refuse = (route: Route) =>
    route.fulfill({ status: 500, json: { code: 'X', message: 'Refused.', data: null, error: {} } });

  it('keep the error during a retry, send one retry at a time and announce its failure', async () => {
    const agent = await fixture.api.createAgent({ name: 'Late' });
    const { page } = await fixture.open('/');
    const delayedRoutes: Route[] = [];
    let isDelayed = false;
    await page.route(`**/api/v1/agents/${agent}`, async (route) => {
      if (isDelayed) delayedRoutes.push(route);
      else await refuse(route);
    });
    await page.goto(`/agents/${agent}`);
    const alert = page.getByRole('alert');
    await alert.getByText('Refused.').waitFor();
    const before = await alert.boundingBox();
    isDelayed = true;
    await button(page, 'Try again').click();
    const trying = button(page, 'Retrying');
    await trying.and(page.locator('[aria-busy=true]:focus')).waitFor();
    expect(await alert.boundingBox()).toEqual(before);
    for (const key of ['Enter', ' ']) await page.keyboard.press(key);
    await trying.dispatchEvent('click');
    expect(await axeViolations(page)).toEqual([]);
    await until('the request was sent', async () => delayedRoutes.length > 0);
    isDelayed = false;
    for (const route of delayedRoutes) await refuse(route);
    await alert.getByText('The retry failed.').waitFor();
    expect(delayedRoutes.length).toBe(1);
    await button(page, 'Try again').and(page.locator(':focus')).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Late' }).waitFor();
    await page.context().close();
  });

  it('keep the loaded session while the event stream is reopened', async () => {
    const agent = await fixture.api.createAgent({ name: 'Kept' });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, { message: 'Hello' });
    const { page } = await fixture.open('/');
    const delayedRoutes: Route[] = [];
    let isDelayed = false;
    await page.route(/\/events\?/, async (route) => {
      if (isDelayed) delayedRoutes.push(route);
      else await refuse(route);
    });
    await page.goto(`/sessions/${body.data.session_id}`);
    const alert = page.getByRole('alert');
    await alert.getByText('This page receives no updates.').waitFor();
    isDelayed = true;
    await button(page, 'Try again').click();
    const trying = button(page, 'Retrying').and(page.locator('[aria-busy=true]:focus'));
    await trying.waitFor();
    await page.keyboard.press('Enter');
    await until('the request was sent', async () => delayedRoutes.length > 0);
    isDelayed = false;
    for (const route of delayedRoutes) await refuse(route);
    await alert.getByText('The retry failed.').waitFor();
    expect(delayedRoutes.length).toBe(1);
    await page.unrouteAll({ behavior: 'wait' });
    await button(page, 'Try again').and(page.locator(':focus')).press('Enter');
    await page.getByRole('article', { name: 'Message from Agent' }).getByText('Hello').waitFor();
    expect(await alert.count()).toBe(0);
    await page.context().close();
  });

  it('show one error for the files of an assistant and retry all its requests', async () => {
    const { page } = await fixture.open('/');
    await page.route(/\/files|\/workspace/, refuse);
    await page.goto(`/assistants/${assistant}?tab=files&path=some%2Ffile.txt`);
    await page.getByRole('alert').getByText('Refused.').waitFor();
    await until('nothing is loading', async () => (await page.getByLabel('Loading').count()) === 0);
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    await button(page, 'Try again').click();
    await page.getByRole('alert').getByText('The retry failed.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.goto(`/assistants/${assistant}?tab=files`);
    await page.getByRole('alert').getByText('Refused.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await button(page, 'Try again').click();
    await page.getByText('No files yet').waitFor();
    await page.getByText('Never used').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });
});
