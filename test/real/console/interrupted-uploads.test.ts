import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, startConsole } from './console-fixture.ts';
import { createWorkspaceHelpers, type WorkspaceHelpers } from './workspace-helpers.ts';

const MIB = 1024 * 1024;

describe('interrupted uploads', () => {
  let fixture: ConsoleFixture;
  let workspaces: WorkspaceHelpers;
  beforeAll(async () => {
    fixture = await startConsole();
    workspaces = await createWorkspaceHelpers(fixture);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const item = (page: Page, name: string) =>
    page.getByRole('tree', { name: 'Files' }).getByRole('treeitem', { name });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const uploads = (page: Page) => page.getByRole('region', { name: 'Uploads' });
  const choose = async (page: Page, files: Record<string, Buffer>) => {
    const chosen = Object.entries(files).map(([name, buffer]) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer,
    }));
    await page.getByLabel('Files to upload').setInputFiles(chosen);
  };

  it('wait for Retry-After and continue automatically without the cancelled files', async () => {
    const session = await workspaces.begin();
    const { page } = await fixture.open(`/sessions/${session}?view=files`);
    await page.getByText('No files yet').waitFor();
    let seconds = 90;
    const sent: number[] = [];
    await page.route(`**/sessions/${session}/files`, (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      sent.push(seconds);
      const error = { user_message: 'Too many requests.', retryable: true, details: [] };
      const json = { code: 'RATE_LIMITED', message: 'x', data: { retry_after_seconds: seconds }, error };
      return seconds > 0 ? route.fulfill({ status: 429, json }) : route.continue();
    });
    await choose(page, { 'long.bin': randomBytes(10) });
    await uploads(page).getByText('Waiting 1 min').waitFor();
    await page.getByRole('status').filter({ hasText: 'uploads paused' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await button(page, 'Cancel long.bin').click();
    await uploads(page).waitFor({ state: 'detached' });
    expect(sent).toEqual([90]);

    // A reloaded page has no memory of the pause.
    await page.clock.install();
    await page.reload();
    await choose(page, { 'kept.bin': randomBytes(10), 'left.bin': randomBytes(10) });
    await uploads(page).getByText('Waiting 1 min').first().waitFor();
    seconds = 0;
    await button(page, 'Cancel left.bin').click();
    await page.clock.fastForward(90_000);
    await uploads(page).getByText('1 file uploaded').waitFor();
    await item(page, 'kept.bin').waitFor();
    expect(await item(page, 'left.bin').count()).toBe(0);
    expect(sent).toEqual([90, 90, 0]);
    await page.unrouteAll({ behavior: 'wait' });
    await page.context().close();
  });

  it('store nothing after a broken connection and restart on a retry', async () => {
    const session = await workspaces.begin();
    const service = new URL(fixture.system.url);
    let most = MIB;
    // Simulates a broken connection between the browser and the service.
    const network = createServer((near) => {
      const far = connect(Number(service.port), service.hostname);
      let bytes = 0;
      near.on('data', (chunk) => {
        bytes += chunk.length;
        if (bytes > most) near.destroy();
        else if (!far.write(chunk)) near.pause();
      });
      far.on('drain', () => near.resume());
      far.pipe(near);
      for (const [side, other] of [
        [near, far],
        [far, near],
      ] as const)
        side.on('error', () => {}).on('close', () => other.destroy());
    });
    await using stack = new AsyncDisposableStack();
    stack.defer(() => new Promise((resolve) => network.close(() => resolve())));
    await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve));
    const { port } = network.address() as AddressInfo;
    const { page } = await fixture.open('/');
    await page.goto(`http://127.0.0.1:${port}/sessions/${session}?view=files`);
    await page.getByText('No files yet').waitFor();
    const bytes = randomBytes(4 * MIB);
    await choose(page, { 'cut.bin': bytes });
    await uploads(page).getByText('The service cannot be reached.').waitFor();
    await page.getByText('0 files uploaded, 1 failed').first().waitFor();
    const listed = await fixture.api.get(`/sessions/${session}/files`);
    expect(listed.body.data).toEqual([]);
    expect(await item(page, 'cut.bin').count()).toBe(0);
    most = Number.POSITIVE_INFINITY;
    await button(page, 'Retry cut.bin').click();
    await item(page, 'cut.bin').waitFor();
    await until('the file is complete', async () =>
      (await workspaces.bytesOf(session, 'cut.bin')).equals(bytes),
    );
    await page.context().close();
  });
});
