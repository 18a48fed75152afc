import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, fitsWindow, startConsole } from './console-fixture.ts';
import { button, dialog, secretOf } from './deployment-helpers.ts';

const NAME =
  'وكيل الطلبات 🚀 whose name is long enough for two lines and has nospacesattheendwheretheywouldhelp';
const PREFIX = 'Say “what” broke:';
/** Evaluated in the page. A string because the tests compile without DOM types. */

let fixture: ConsoleFixture;
beforeAll(async () => {
  fixture = await startConsole();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

async function createWebhookInPage(page: Page): Promise<{ url: string; secret: string; id: string }> {
  const answered = secretOf(page);
  await page.getByRole('button', { name: /^Create/ }).click();
  const secret = await answered;
  const url = (await dialog(page).getByRole('region', { name: 'Trigger URL' }).textContent()) ?? '';
  await page.getByRole('checkbox', { name: 'I have stored the secret' }).check();
  await button(page, 'Done').click();
  await dialog(page).waitFor({ state: 'detached' });
  return { url, secret, id: url.split('/').at(-2) ?? '' };
}

describe('management of existing webhooks', () => {
  it('replaces a webhook step by step, across a reload', async () => {
    const agentId = await fixture.api.createAgent({ name: NAME });
    const old = await fixture.api.createWebhook(agentId, { prompt_prefix: PREFIX });
    // A bookmark of an earlier release.
    const { page, context, consoleMessages } = await fixture.open(`/triggers/${agentId}/${old.id}`);
    await page.waitForURL(`**/deployments/${agentId}/${old.id}`);
    await page.getByRole('link', { name: 'Replace' }).click();
    await page.getByRole('combobox', { name: 'Agent', exact: true }).filter({ hasText: NAME }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Prompt prefix' }).inputValue()).toBe(PREFIX);
    const replacement = await createWebhookInPage(page);
    const step = page.getByRole('list', { name: 'Replacement steps' }).locator('[aria-current=step]');
    await step.getByText('Switch sender').waitFor();
    await page.reload();
    await step.getByText('Switch sender').waitFor();
    await page.getByRole('region', { name: 'Old URL' }).getByText(old.url).waitFor();
    await page.getByRole('region', { name: 'New URL' }).getByText(replacement.url).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect((await fixture.api.trigger(old, 'still here')).status).toBe(200);
    expect((await fixture.api.trigger(replacement, 'here as well')).status).toBe(200);
    await step.getByText('Delete old webhook').waitFor();
    expect(consoleMessages).toEqual([]);
    await button(page, 'Delete old webhook').click();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The old webhook is deleted.').waitFor();
    // The element that opened the dialog is gone as well.
    await page.getByRole('heading', { level: 1 }).and(page.locator(':focus')).waitFor();
    expect((await fixture.api.trigger(old, 'too late')).status).toBe(404);
    expect((await fixture.api.trigger(replacement, 'still here')).status).toBe(200);
    await page.getByRole('link', { name: 'Finish' }).click();
    await page.waitForURL(`${fixture.system.url}/deployments/${agentId}/${replacement.id}`);
    await context.close();
  });

  it('distinguishes the webhooks of an agent by their titles and lists them on its page', async () => {
    const own = await fixture.api.createAgent({ name: NAME });
    const webhooks = [await fixture.api.createWebhook(own), await fixture.api.createWebhook(own)];
    const { page, context, consoleMessages } = await fixture.open(`/agents/${own}?tab=deployments`);
    const titles = new Set<string>();
    for (const { id } of webhooks) {
      await page.getByRole('link', { name: id }).click();
      await page.getByRole('heading', { level: 1, name: `Webhook ${id.slice(-6)} of ${NAME}` }).waitFor();
      titles.add(await page.title());
      await page.goBack();
    }
    expect(titles.size).toBe(2);
    await page.getByRole('link', { name: 'Search deployments' }).click();
    await page.waitForURL('**/deployments?q=*');
    for (const { id } of webhooks) await page.getByRole('link', { name: id }).waitFor();
    expect(consoleMessages).toEqual([]);
    await context.close();
  });

  it('retries the agents of the webhook form after an error', async () => {
    const own = await fixture.api.createAgent({ name: 'Unread' });
    const { page, context } = await fixture.open('/');
    let isBroken = true;
    await page.route('**/api/v1/agents*', (route) => (isBroken ? route.abort() : route.continue()));
    await page.goto('/deployments/new');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    const curl = page.getByRole('region', { name: 'curl command' });
    expect(await curl.textContent()).toContain('/api/v1/agents');
    expect(await axeViolations(page)).toEqual([]);
    isBroken = false;
    await button(page, 'Try again').click();
    await page.getByRole('combobox', { name: 'Agent', exact: true }).click();
    await page.getByRole('combobox', { name: 'Search agents by name' }).fill('Unread');
    await page.getByRole('option', { name: 'Unread' }).click();
    // Unsaved input is not lost by accident.
    await page.getByRole('textbox', { name: 'Prompt prefix' }).fill(PREFIX);
    await page.getByRole('link', { name: 'Cancel' }).click();
    await button(page, 'Stay').click();
    const { id } = await createWebhookInPage(page);
    await page.waitForURL(`**/deployments/${own}/${id}`);
    await page.unrouteAll({ behavior: 'wait' });
    await context.close();
  });

  it('disables, enables and deletes webhooks in the list and keeps the filters in the URL', async () => {
    const own = await fixture.api.createAgent({ name: 'Switched' });
    const webhook = await fixture.api.createWebhook(own);
    const { page, context, consoleMessages } = await fixture.open('/deployments?status=enabled');
    await page.getByRole('searchbox', { name: 'Search by name, agent, type or ID' }).fill('switched');
    await page.waitForURL('**/deployments?*q=switched*');
    const status = async () => (await fixture.api.trigger(webhook, 'x')).status;
    const act = async (what: string) => {
      await page.getByRole('button', { name: `Actions for Switched, ${webhook.id}` }).click();
      await page.getByRole('menuitem', { name: what, exact: true }).click();
    };
    await act('Disable');
    await dialog(page).getByText('Requests return 404').waitFor();
    await dialog(page).getByRole('button', { name: 'Disable' }).click();
    await page.getByText('No matching deployments.').waitFor();
    expect(await status()).toBe(404);
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Disabled' }).click();
    await page.waitForURL('**status=disabled*');
    await act('Enable');
    await until('the webhook is enabled', async () => (await status()) === 200);
    await page.goto('/deployments?q=switched');
    await act('Delete');
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No matching deployments.').waitFor();
    expect(await status()).toBe(404);
    expect(consoleMessages).toEqual([]);
    await context.close();
  });

  it('lists many webhooks, also on a phone', async () => {
    const own = await fixture.api.createAgent({ name: `${NAME} 2` });
    const many = 230;
    for (let made = 0; made < many; made += 10)
      await Promise.all(Array.from({ length: 10 }, () => fixture.api.createWebhook(own)));
    for (const [width, role] of [
      [1280, 'row'],
      [360, 'listitem'],
    ] as const) {
      const { page, context, consoleMessages } = await fixture.open(
        `/deployments?q=${encodeURIComponent(`${NAME} 2`)}`,
        { width },
      );
      const rows = page.getByRole('main').getByRole(role).filter({ hasText: 'dep_' });
      await rows.first().waitFor();
      await until('all deployments are loaded', async () => {
        await page.keyboard.press('End');
        return (
          (await page
            .getByRole('status')
            .filter({ hasText: `${many} deployments` })
            .count()) > 0
        );
      });
      expect(await rows.count()).toBeLessThan(many / 2);
      await fitsWindow(page);
      if (width < 1280) expect(await axeViolations(page)).toEqual([]);
      await rows.last().getByRole('link', { name: NAME }).click();
      await page.getByText('Waiting for your first request').waitFor();
      await fitsWindow(page);
      expect(consoleMessages).toEqual([]);
      await context.close();
    }
  });
});
