import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { openStage, type Stage, seriousFindings } from './stage.ts';
import { openWorkspaces, type Workspaces } from './workspaces.ts';

const MIB = 1024 * 1024;

describe('uploads that are held up', () => {
  let stage: Stage;
  let workspaces: Workspaces;
  beforeAll(async () => {
    stage = await openStage();
    workspaces = await openWorkspaces(stage);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

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

  it('wait as long as the service says, and go on by themselves without what was cancelled', async () => {
    const session = await workspaces.begin();
    const { page } = await stage.open(`/sessions/${session}?view=files`);
    await page.getByText('There are no files yet').waitFor();
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
    await page.getByRole('status').filter({ hasText: 'uploads wait' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await button(page, 'Cancel long.bin').click();
    await uploads(page).waitFor({ state: 'detached' });
    expect(sent).toEqual([90]);

    // A page that is opened anew knows nothing of that.
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

  it('are cut in their middle: nothing of them is there, and they begin anew', async () => {
    const session = await workspaces.begin();
    const service = new URL(stage.system.url);
    let most = MIB;
    // Between the browser and the service, like the network of a train.
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
    const { page } = await stage.open('/');
    await page.goto(`http://127.0.0.1:${port}/sessions/${session}?view=files`);
    await page.getByText('There are no files yet').waitFor();
    const bytes = randomBytes(4 * MIB);
    await choose(page, { 'cut.bin': bytes });
    await uploads(page).getByText('The service cannot be reached.').waitFor();
    await page.getByText('0 files uploaded, 1 failed').first().waitFor();
    const listed = await stage.api.get(`/sessions/${session}/files`);
    expect(listed.body.data).toEqual([]);
    expect(await item(page, 'cut.bin').count()).toBe(0);
    most = Number.POSITIVE_INFINITY;
    await button(page, 'Retry cut.bin').click();
    await item(page, 'cut.bin').waitFor();
    await until('it is whole', async () => (await workspaces.bytesOf(session, 'cut.bin')).equals(bytes));
    await page.context().close();
  });
});
