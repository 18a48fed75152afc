import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './stage.ts';
import { openWorkspaces, type Workspaces } from './workspaces.ts';

const MOST = 100_000;

describe('the files of somebody who may have no more', () => {
  let stage: Stage;
  let workspaces: Workspaces;
  beforeAll(async () => {
    stage = await openStage({ SERVICE_QUOTA_BYTES_PER_USER: String(MOST) });
    workspaces = await openWorkspaces(stage);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  it('are kept as far as they fit, and the others say why they are not', async () => {
    const session = await workspaces.begin();
    const { page } = await stage.open(`/sessions/${session}?view=files`);
    const file = (name: string, bytes: number) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer: randomBytes(bytes),
    });
    const chosen = [file('first.bin', 10), file('huge.bin', 3 * MOST), file('last.bin', 10)];
    await page.locator('input[type=file]').first().setInputFiles(chosen);
    await page.getByText('2 files uploaded, 1 failed').first().waitFor();
    await page.getByText(`and you may have ${MOST}`).waitFor();
    const tree = page.getByRole('tree', { name: 'Files' });
    await tree.getByRole('treeitem', { name: 'last.bin' }).waitFor();
    expect(await tree.getByRole('treeitem').count()).toBe(2);
  });
});
