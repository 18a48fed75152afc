import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleFixture, PAGE_STORAGE, startConsole } from './console-fixture.ts';
import { button, dialog, secretOf } from './deployment-helpers.ts';
import { createWorkspaceHelpers } from './workspace-helpers.ts';

describe('page reload with an open dialog', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const webhooksOf = async (agent: string): Promise<string[]> => {
    const { body } = await fixture.api.get(`/admin/agents/${agent}/deployments`);
    return Array.from(body.data as { deployment_id: string }[], ({ deployment_id: id }) => id);
  };
  const isOpen = (page: Page) => page.getByRole('dialog').count();
  /** A page that shows a secret asks for a confirmation before the reload. */
  async function reopen(page: Page, sure: boolean): Promise<void> {
    const asked = page.waitForEvent('dialog');
    const reloaded = page.reload().catch(() => undefined);
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await (sure ? question.accept() : question.dismiss());
    if (sure) await reloaded;
  }

  it('creates and deletes nothing until the dialog is confirmed again', async () => {
    const workspaces = await createWorkspaceHelpers(fixture);
    const session = await workspaces.begin();
    await workspaces.put(session, { 'kept.txt': 'kept' });
    const { page } = await fixture.open(`/sessions/${session}?view=files&path=kept.txt`);
    const item = (name: string) => page.getByRole('tree', { name: 'Files' }).getByRole('treeitem', { name });
    await button(page, 'New folder').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('later');
    await page.reload();
    await page.getByRole('heading', { name: 'kept.txt' }).waitFor();
    expect(await isOpen(page)).toBe(0);
    await button(page, 'Delete').click();
    await dialog(page).waitFor();
    await page.reload();
    await item('kept.txt').waitFor();
    expect(await isOpen(page)).toBe(0);
    expect(await item('later').count()).toBe(0);

    await button(page, 'New folder').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('later');
    await page.keyboard.press('Enter');
    await item('later').waitFor();
    await item('kept.txt').click();
    await button(page, 'Delete').click();
    await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click();
    await item('kept.txt').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('leaves one created webhook and no copy of its secret', async () => {
    const agent = await fixture.api.createAgent({ name: 'Reopened' });
    const { page } = await fixture.open(`/deployments/new?agent=${agent}`);
    const answered = secretOf(page);
    await button(page, 'Create webhook').click();
    const secret = await answered;
    await dialog(page).getByText(secret).waitFor();
    await reopen(page, false);
    await dialog(page).getByText(secret).waitFor();
    await reopen(page, true);
    await button(page, 'Create webhook').waitFor();
    expect(await isOpen(page)).toBe(0);
    expect(await page.evaluate<string>(PAGE_STORAGE)).not.toContain(secret);
    expect(await webhooksOf(agent)).toHaveLength(1);

    // A webhook whose response is lost by the reload is also created once.
    const held = Promise.withResolvers<void>();
    await page.route(
      '**/deployments',
      async (route) => {
        await route.fetch();
        held.resolve();
      },
      { times: 1 },
    );
    await button(page, 'Create webhook').click();
    await held.promise;
    page.once('dialog', (question) => question.accept());
    await page.reload();
    await button(page, 'Create webhook').waitFor();
    expect(await webhooksOf(agent)).toHaveLength(2);
    await page.goto('/deployments');
    await page.getByRole('row').filter({ hasText: 'Reopened' }).first().waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'Reopened' }).count()).toBe(2);
    await page.context().close();
  });

  it('changes neither webhook of a replacement', async () => {
    const agent = await fixture.api.createAgent({ name: 'Replaced' });
    const old = await fixture.api.createWebhook(agent, { prompt_prefix: 'Say:' });
    const { page } = await fixture.open(`/deployments/new?agent=${agent}&replaces=${old.id}`);
    const step = page.getByRole('list', { name: 'Replacement steps' }).locator('[aria-current=step]');
    const create = button(page, 'Create replacement');
    const answered = secretOf(page);
    await create.click();
    const secret = await answered;
    await reopen(page, true);
    await create.waitFor();
    expect(await page.getByRole('textbox', { name: 'Prompt prefix' }).inputValue()).toBe('Say:');
    expect(await page.evaluate<string>(PAGE_STORAGE)).not.toContain(secret);
    expect((await fixture.api.trigger(old, 'still here')).status).toBe(200);

    const [fresh] = (await webhooksOf(agent)).filter((id) => id !== old.id);
    await page.goto(`/deployments/${agent}/${fresh}?replaces=${old.id}`);
    await button(page, 'Delete old webhook').click();
    await dialog(page).waitFor();
    await page.reload();
    await step.getByText('Switch sender').waitFor();
    expect(await isOpen(page)).toBe(0);
    expect(await webhooksOf(agent)).toHaveLength(2);
    await button(page, 'Delete old webhook').click();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The old webhook is deleted.').waitFor();
    expect(await webhooksOf(agent)).toEqual([fresh]);
    await page.context().close();
  });
});
