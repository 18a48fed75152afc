import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataOfCreated } from '../../support/api.ts';
import { until } from '../../support/wait.ts';
import { type ConsoleFixture, startConsole } from './console-fixture.ts';
import { button } from './deployment-helpers.ts';

interface Edit {
  field: Locator;
  text: string;
}

describe('a form with a save in flight', () => {
  let fixture: ConsoleFixture;
  let agent: string;
  beforeAll(async () => {
    fixture = await startConsole();
    agent = await fixture.api.createAgent({ name: 'Reporter' });
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  async function createDeployment(members: object): Promise<string> {
    const created = await fixture.api.post(`/admin/agents/${agent}/deployments`, members);
    return String(dataOfCreated(created).deployment_id);
  }

  /**
   * Saves the first edit, makes the second one while the service has not answered yet, and saves that, too. Returns the bodies
   * of the requests.
   */
  async function saveTwice(page: Page, path: string, [first, second]: [Edit, Edit]): Promise<unknown[]> {
    const sent: unknown[] = [];
    const release = Promise.withResolvers<void>();
    await page.route(`**/api/v1${path}`, async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue();
      sent.push(route.request().postDataJSON());
      await release.promise;
      return route.continue();
    });
    const values = async () => [await first.field.inputValue(), await second.field.inputValue()];

    await first.field.fill(first.text);
    await button(page, 'Save').click();
    await until('the request is sent', () => sent.length === 1);
    await second.field.fill(second.text);
    const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
    release.resolve();
    expect((await answered).status()).toBe(200);
    // The form offers to save what the answer does not have.
    await button(page, 'Save').and(page.locator(':enabled')).waitFor();
    expect(await values()).toEqual([first.text, second.text]);

    await button(page, 'Save').click();
    await button(page, 'Save').waitFor({ state: 'detached' });
    expect(await values()).toEqual([first.text, second.text]);
    await page.context().close();
    return sent;
  }

  it('of an environment keeps what is typed, and saves it with the next save', async () => {
    const created = await fixture.api.post('/admin/environments', { name: 'builds' });
    const id = String(created.body.data.environment_id);
    const { page } = await fixture.open(`/environments/${id}`);
    const sent = await saveTwice(page, `/admin/environments/${id}`, [
      { field: page.getByLabel('Memory'), text: '64' },
      { field: page.getByLabel('Processes'), text: '50' },
    ]);
    expect(sent).toEqual([
      { sandbox: expect.objectContaining({ memory_mib: 64, pids: null }) },
      { sandbox: expect.objectContaining({ memory_mib: 64, pids: 50 }) },
    ]);
    const stored = { sandbox: { memory_mib: 64, pids: 50 } };
    expect((await fixture.api.get(`/admin/environments/${id}`)).body.data).toMatchObject(stored);
  });

  it('of a schedule keeps what is typed, and saves it with the next save', async () => {
    const id = await createDeployment({
      type: 'schedule',
      name: 'Report',
      prompt: 'Report.',
      cron: '0 9 * * *',
    });
    const path = `/admin/agents/${agent}/deployments/${id}`;
    const { page } = await fixture.open(`/deployments/${agent}/${id}?tab=settings`);
    const sent = await saveTwice(page, path, [
      { field: page.getByRole('textbox', { name: 'Name' }), text: 'Evening report' },
      { field: page.getByRole('textbox', { name: 'Prompt' }), text: 'Report the day.' },
    ]);
    expect(sent).toEqual([{ name: 'Evening report' }, { prompt: 'Report the day.' }]);
    const stored = { name: 'Evening report', prompt: 'Report the day.' };
    expect((await fixture.api.get(path)).body.data).toMatchObject(stored);
  });

  it('of a channel keeps what is typed, and saves it with the next save', async () => {
    const id = await createDeployment({ type: 'channel', provider: 'http', name: 'Desk' });
    const path = `/admin/agents/${agent}/deployments/${id}`;
    const { page } = await fixture.open(`/deployments/${agent}/${id}?tab=settings`);
    const sent = await saveTwice(page, path, [
      { field: page.getByRole('textbox', { name: 'Name' }), text: 'Help desk' },
      { field: page.getByRole('textbox', { name: 'Greeting' }), text: 'Welcome.' },
    ]);
    expect(sent).toEqual([
      { name: 'Help desk' },
      { config: expect.objectContaining({ greeting: 'Welcome.' }) },
    ]);
    const stored = { name: 'Help desk', config: { greeting: 'Welcome.' } };
    expect((await fixture.api.get(path)).body.data).toMatchObject(stored);
  });
});
