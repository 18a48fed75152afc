import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { openStage, type Stage, seriousFindings } from './stage.ts';
import { button, dialog, secretOf } from './triggers.ts';

const NAME =
  'وكيل الطلبات 🚀 whose name is long enough for two lines and has nospacesattheendwheretheywouldhelp';
const PREFIX = 'Say “what” broke:';
/** Run in the page; the compiler knows no browser. */
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

async function createTrigger(page: Page): Promise<{ url: string; secret: string; id: string }> {
  const answered = secretOf(page);
  await page.getByRole('button', { name: /^Create/ }).click();
  const secret = await answered;
  const url = (await dialog(page).getByRole('region', { name: 'Trigger URL' }).textContent()) ?? '';
  await page.getByRole('checkbox', { name: 'I have stored the secret' }).check();
  await button(page, 'Done').click();
  await dialog(page).waitFor({ state: 'detached' });
  return { url, secret, id: url.split('/').at(-2) ?? '' };
}

describe('triggers that are there', () => {
  it('are replaced step by step, over a reload', async () => {
    const agentId = await stage.api.createAgent({ name: NAME });
    const old = await stage.api.createWebhook(agentId, { prompt_prefix: PREFIX });
    const { page, context, complaints } = await stage.open(`/triggers/${agentId}/${old.id}`);
    await page.getByRole('link', { name: 'Replace' }).click();
    expect(await page.getByRole('combobox', { name: 'Agent' }).textContent()).toBe(NAME);
    expect(await page.getByRole('textbox', { name: 'Prompt prefix' }).inputValue()).toBe(PREFIX);
    const fresh = await createTrigger(page);
    const step = page.getByRole('list', { name: 'Steps of the replacement' }).locator('[aria-current=step]');
    await step.getByText('Switch the sender').waitFor();
    await page.reload();
    await step.getByText('Switch the sender').waitFor();
    await page.getByRole('region', { name: 'Old URL' }).getByText(old.url).waitFor();
    await page.getByRole('region', { name: 'New URL' }).getByText(fresh.url).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect((await stage.api.trigger(old, 'still here')).status).toBe(200);
    expect((await stage.api.trigger(fresh, 'here as well')).status).toBe(200);
    await step.getByText('Delete the old one').waitFor();
    expect(complaints).toEqual([]);
    await button(page, 'Delete the old trigger').click();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The old trigger is deleted.').waitFor();
    // What the dialog came from has gone, too.
    await page.getByRole('heading', { level: 1 }).and(page.locator(':focus')).waitFor();
    expect((await stage.api.trigger(old, 'too late')).status).toBe(404);
    expect((await stage.api.trigger(fresh, 'still here')).status).toBe(200);
    await page.getByRole('link', { name: 'Finish' }).click();
    await page.waitForURL(`${stage.system.url}/triggers/${agentId}/${fresh.id}`);
    await context.close();
  });

  it('of one agent are told apart by their titles, and found where the agent is', async () => {
    const own = await stage.api.createAgent({ name: NAME });
    const webhooks = [await stage.api.createWebhook(own), await stage.api.createWebhook(own)];
    const { page, context, complaints } = await stage.open(`/agents/${own}?tab=triggers`);
    const titles = new Set<string>();
    for (const { id } of webhooks) {
      await page.getByRole('link', { name: id }).click();
      await page.getByRole('heading', { level: 1, name: `Trigger ${id.slice(-6)} of ${NAME}` }).waitFor();
      titles.add(await page.title());
      await page.goBack();
    }
    expect(titles.size).toBe(2);
    await page.getByRole('link', { name: 'Search its triggers' }).click();
    await page.waitForURL('**/triggers?q=*');
    for (const { id } of webhooks) await page.getByRole('link', { name: id }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('begin with agents: those that cannot be read are asked for again', async () => {
    const own = await stage.api.createAgent({ name: 'Unread' });
    const { page, context } = await stage.open('/');
    let isBroken = true;
    await page.route('**/api/v1/agents*', (route) => (isBroken ? route.abort() : route.continue()));
    await page.goto('/triggers/new');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    const curl = page.getByRole('region', { name: 'The same with curl' });
    expect(await curl.textContent()).toContain('/api/v1/agents');
    expect(await seriousFindings(page)).toEqual([]);
    isBroken = false;
    await button(page, 'Try again').click();
    await page.getByRole('combobox', { name: 'Agent' }).click();
    await page.getByRole('combobox', { name: 'Find an agent by name' }).fill('Unread');
    await page.getByRole('option', { name: 'Unread' }).click();
    // What is not sent yet is not lost by a slip.
    await page.getByRole('textbox', { name: 'Prompt prefix' }).fill(PREFIX);
    await page.getByRole('link', { name: 'Cancel' }).click();
    await button(page, 'Stay').click();
    const { id } = await createTrigger(page);
    await page.waitForURL(`**/triggers/${own}/${id}`);
    await page.unrouteAll({ behavior: 'wait' });
    await context.close();
  });

  it('are switched off and on and deleted where they are listed, which the URL says how', async () => {
    const own = await stage.api.createAgent({ name: 'Switched' });
    const webhook = await stage.api.createWebhook(own);
    const { page, context, complaints } = await stage.open('/triggers?status=enabled');
    await page.getByRole('searchbox', { name: 'Search by agent, type or id' }).fill('switched');
    await page.waitForURL('**/triggers?*q=switched*');
    const status = async () => (await stage.api.trigger(webhook, 'x')).status;
    const act = async (what: string) => {
      await page.getByRole('button', { name: `Actions for Switched, ${webhook.id}` }).click();
      await page.getByRole('menuitem', { name: what, exact: true }).click();
    };
    await act('Disable');
    await dialog(page).getByText('answered with 404').waitFor();
    await dialog(page).getByRole('button', { name: 'Disable' }).click();
    await page.getByText('No trigger is like that.').waitFor();
    expect(await status()).toBe(404);
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Disabled' }).click();
    await page.waitForURL('**status=disabled*');
    await act('Enable');
    await until('it is enabled', async () => (await status()) === 200);
    await page.goto('/triggers?q=switched');
    await act('Delete');
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No trigger is like that.').waitFor();
    expect(await status()).toBe(404);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are as many as there are, on a telephone as well', async () => {
    const own = await stage.api.createAgent({ name: `${NAME} 2` });
    const many = 230;
    for (let made = 0; made < many; made += 10)
      await Promise.all(Array.from({ length: 10 }, () => stage.api.createWebhook(own)));
    for (const [width, role] of [
      [1280, 'row'],
      [360, 'listitem'],
    ] as const) {
      const { page, context, complaints } = await stage.open(
        `/triggers?q=${encodeURIComponent(`${NAME} 2`)}`,
        { width },
      );
      const rows = page.getByRole('main').getByRole(role).filter({ hasText: 'dep_' });
      await rows.first().waitFor();
      await until('all are loaded', async () => {
        await page.keyboard.press('End');
        return (
          (await page
            .getByRole('status')
            .filter({ hasText: `${many} triggers` })
            .count()) > 0
        );
      });
      expect(await rows.count()).toBeLessThan(many / 2);
      expect(await page.evaluate<number>(OVERFLOW)).toBe(0);
      if (width < 1280) expect(await seriousFindings(page)).toEqual([]);
      await rows.last().getByRole('link', { name: NAME }).click();
      await page.getByText('Waiting for your first request').waitFor();
      expect(await page.evaluate<number>(OVERFLOW)).toBe(0);
      expect(complaints).toEqual([]);
      await context.close();
    }
  });
});
