import { mkdir } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataOfCreated } from '../../support/api.ts';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, fitsWindow, startConsole, tabTo } from './console-fixture.ts';
import { button, dialog } from './deployment-helpers.ts';

/** The folder for pictures of the pages; without it none are taken. */
const PICTURES = process.env.SERVICE_TEST_PICTURES;

describe('schedule pages', () => {
  let fixture: ConsoleFixture;
  let agent: string;
  beforeAll(async () => {
    fixture = await startConsole();
    agent = await fixture.api.createAgent({ name: 'Reporter' });
    if (PICTURES) await mkdir(PICTURES, { recursive: true });
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const picture = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  /** Checks a page in both themes and at the width of a phone. */
  async function inspect(page: Page, name: string): Promise<void> {
    await picture(page, name);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `${name}-dark`);
    await page.setViewportSize({ width: 360, height: 800 });
    await fitsWindow(page);
    await picture(page, `${name}-phone`);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  }

  async function createSchedule(members: object = {}): Promise<string> {
    const body = {
      type: 'schedule',
      name: 'Morning report',
      prompt: 'Report.',
      cron: '0 9 * * *',
      ...members,
    };
    const created = await fixture.api.post(`/admin/agents/${agent}/deployments`, body);
    return String(dataOfCreated(created).deployment_id);
  }

  it('create a schedule by keyboard, with its next times while typing', async () => {
    const { page, consoleMessages } = await fixture.open(`/deployments/new?agent=${agent}`);
    await tabTo(page, page.getByRole('radio', { name: 'Webhook' }));
    await page.keyboard.press('ArrowDown');
    await page.getByRole('radio', { name: 'Schedule' }).and(page.locator('[data-checked]')).waitFor();
    await tabTo(page, page.getByRole('textbox', { name: 'Name' }));
    await page.keyboard.type('Morning report');
    await tabTo(page, page.getByRole('textbox', { name: 'Prompt' }));
    await page.keyboard.type('Report on {{date}}.');
    const cron = page.getByRole('combobox', { name: 'Cron expression' });
    await tabTo(page, cron);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('30 2 30 2 *');
    const times = page.getByRole('status').filter({ hasText: 'has no time' });
    await times.waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('30 2 * 3 SUN');
    const zone = page.getByRole('combobox', { name: 'Time zone' });
    await tabTo(page, zone);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('Europe/Berlin');
    await page.getByText('At 02:30, only on Sunday, only in March.').waitFor();
    await page.getByText('Moved: the clock skips this time').first().waitFor();
    await inspect(page, 'schedule-new');
    await tabTo(page, button(page, 'Create schedule'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Morning report' }).waitFor();
    await page.getByText('No runs yet.').waitFor();
    const [created] = await fixture.api.list<{ timezone: string; cron: string }>(
      '/admin/deployments?q=morning',
    );
    expect(created).toMatchObject({ timezone: 'Europe/Berlin', cron: '30 2 * 3 SUN' });
    // Only the previews of unfinished expressions were refused.
    expect(consoleMessages.filter((message) => !message.includes('400 (Bad Request)'))).toEqual([]);
  });

  it('refuse an invalid expression at its field and create nothing', async () => {
    const { page } = await fixture.open(`/deployments/new?agent=${agent}&type=schedule`);
    await page.getByRole('textbox', { name: 'Name' }).fill('Never');
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Report.');
    const cron = page.getByRole('combobox', { name: 'Cron expression' });
    await cron.fill('0 0 0 1 * *');
    await button(page, 'Create schedule').click();
    await cron.and(page.locator('[aria-invalid=true]')).waitFor();
    expect(await fixture.api.list('/admin/deployments?q=Never')).toEqual([]);
  });

  it('run a schedule now, show its run and session, and replay it', async () => {
    const id = await createSchedule();
    const { page, consoleMessages } = await fixture.open(`/deployments/${agent}/${id}`);
    await button(page, 'Run now').click();
    await dialog(page).getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('cell').getByText('Succeeded').waitFor();
    await page.getByText('1 succeeded').waitFor({ state: 'attached' });
    await inspect(page, 'schedule-runs');
    await page.getByRole('button', { name: /^Actions for run/ }).click();
    await page.getByRole('menuitem', { name: 'Replay' }).click();
    await page.getByRole('cell').getByText('Replay').waitFor();
    await until('both runs have ended', async () => {
      const runs = await fixture.api.list<{ status: string }>(
        `/admin/agents/${agent}/deployments/${id}/runs`,
      );
      return runs.length === 2 && runs.every(({ status }) => status === 'succeeded');
    });
    await page.getByRole('link', { name: 'Session', exact: true }).first().click();
    await page.getByText('Report.').first().waitFor();
    expect(consoleMessages).toEqual([]);
  });

  it('change the settings with the revision that was shown', async () => {
    const id = await createSchedule({ name: 'Changed' });
    const path = `/admin/agents/${agent}/deployments/${id}`;
    const { page } = await fixture.open(`/deployments/${agent}/${id}?tab=settings`);
    const cron = page.getByRole('combobox', { name: 'Cron expression' });
    await cron.fill('0 7 * * *');
    await fixture.api.send('PATCH', path, { prompt: 'Changed elsewhere.' });
    await button(page, 'Save').click();
    await page.getByText('Another user changed this schedule while you were editing.').waitFor();
    expect((await fixture.api.get(path)).body.data).toMatchObject({ cron: '0 9 * * *', revision: 2 });
    await inspect(page, 'schedule-settings');
  });

  it('count a backfill before its runs start', async () => {
    const id = await createSchedule({
      name: 'Backfilled',
      cron: undefined,
      every_seconds: 3_600,
      start_at: '2026-01-01T00:00:00Z',
    });
    const { page } = await fixture.open(`/deployments/${agent}/${id}?tab=backfills`);
    await page.getByLabel('From').fill('2026-01-10T00:00:00');
    await page.getByLabel('Until').fill('2026-01-10T04:00:00');
    await button(page, 'Count times').click();
    await page.getByText('4 times without a run').waitFor();
    await inspect(page, 'schedule-backfill');
    await button(page, 'Start 4 runs').click();
    await dialog(page).getByRole('button', { name: 'Start runs' }).click();
    await page.getByText('of 4 finished').waitFor();
    await until('the backfill has ended', async () => {
      const [backfill] = await fixture.api.list<{ finished: number }>(
        `/admin/agents/${agent}/deployments/${id}/backfills`,
      );
      return backfill?.finished === 4;
    });
  });

  it('show why the service has paused a schedule', async () => {
    const other = await fixture.api.createAgent({ name: 'Short-lived' });
    const deployments = `/admin/agents/${other}/deployments`;
    const body = {
      type: 'schedule',
      name: 'Paused',
      prompt: 'Report.',
      every_seconds: 60,
      pause_after_failures: 1,
    };
    const id = String(dataOfCreated(await fixture.api.post(deployments, body)).deployment_id);
    await fixture.api.send('PATCH', `/agents/${other}`, { enabled: false });
    await fixture.api.post(`${deployments}/${id}/run`);
    const { page } = await fixture.open(`/deployments/${other}/${id}`);
    await page.getByRole('cell').getByText('The agent is disabled.').waitFor();
    await inspect(page, 'schedule-paused');
  });
});
