import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { openStage, type Stage, seriousFindings } from './stage.ts';

describe('what could not be read', () => {
  let stage: Stage;
  let assistant: string;
  beforeAll(async () => {
    stage = await openStage();
    const { body } = await stage.api.post('/assistants', { name: 'Desk', model: 'rehearsal/echo' });
    assistant = String(body.data.assistant_id);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const refuse = (route: Route) =>
    route.fulfill({ status: 500, json: { code: 'X', message: 'Refused.', data: null, error: {} } });

  it('stays what it was while it is tried again, once at a time, which is said', async () => {
    const agent = await stage.api.createAgent({ name: 'Late' });
    const { page } = await stage.open('/');
    const held: Route[] = [];
    let isHeld = false;
    await page.route(`**/api/v1/agents/${agent}`, async (route) => {
      if (isHeld) held.push(route);
      else await refuse(route);
    });
    await page.goto(`/agents/${agent}`);
    const alert = page.getByRole('alert');
    await alert.getByText('Refused.').waitFor();
    const before = await alert.boundingBox();
    isHeld = true;
    await button(page, 'Try again').click();
    const trying = button(page, 'Trying again');
    await trying.and(page.locator('[aria-busy=true]:focus')).waitFor();
    expect(await alert.boundingBox()).toEqual(before);
    for (const key of ['Enter', ' ']) await page.keyboard.press(key);
    await trying.dispatchEvent('click');
    expect(await seriousFindings(page)).toEqual([]);
    await until('it is asked', async () => held.length > 0);
    isHeld = false;
    for (const route of held) await refuse(route);
    await alert.getByText('It has failed again.').waitFor();
    expect(held.length).toBe(1);
    await button(page, 'Try again').and(page.locator(':focus')).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Late' }).waitFor();
    await page.context().close();
  });

  it('keeps a session as it is while the way back to it is tried', async () => {
    const agent = await stage.api.createAgent({ name: 'Kept' });
    const { body } = await stage.api.post(`/agents/${agent}/conversations`, { message: 'Hello' });
    const { page } = await stage.open('/');
    const held: Route[] = [];
    let isHeld = false;
    await page.route(/\/events\?/, async (route) => {
      if (isHeld) held.push(route);
      else await refuse(route);
    });
    await page.goto(`/sessions/${body.data.session_id}`);
    const alert = page.getByRole('alert');
    await alert.getByText('Nothing new is shown.').waitFor();
    isHeld = true;
    await button(page, 'Try again').click();
    const trying = button(page, 'Trying again').and(page.locator('[aria-busy=true]:focus'));
    await trying.waitFor();
    await page.keyboard.press('Enter');
    await until('it is asked', async () => held.length > 0);
    isHeld = false;
    for (const route of held) await refuse(route);
    await alert.getByText('It has failed again.').waitFor();
    expect(held.length).toBe(1);
    await page.unrouteAll({ behavior: 'wait' });
    await button(page, 'Try again').and(page.locator(':focus')).press('Enter');
    await page.getByRole('article', { name: 'Agent says' }).getByText('Hello').waitFor();
    expect(await alert.count()).toBe(0);
    await page.context().close();
  });

  it('is said once of an assistant whose files do not answer, and all of it is tried again', async () => {
    const { page } = await stage.open('/');
    await page.route(/\/files|\/workspace/, refuse);
    await page.goto(`/assistants/${assistant}?tab=files&path=some%2Ffile.txt`);
    await page.getByRole('alert').getByText('Refused.').waitFor();
    await until('nothing is on its way', async () => (await page.getByLabel('Loading').count()) === 0);
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await seriousFindings(page)).toEqual([]);
    await button(page, 'Try again').click();
    await page.getByRole('alert').getByText('It has failed again.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.goto(`/assistants/${assistant}?tab=files`);
    await page.getByRole('alert').getByText('Refused.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await button(page, 'Try again').click();
    await page.getByText('There are no files yet').waitFor();
    await page.getByText('Nothing was ever in it').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });
});
