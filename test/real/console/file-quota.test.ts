import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleFixture, startConsole } from './console-fixture.ts';
import { createWorkspaceHelpers, type WorkspaceHelpers } from './workspace-helpers.ts';

const MOST = 100_000;

describe('file uploads beyond the quota', () => {
  let fixture: ConsoleFixture;
  let workspaces: WorkspaceHelpers;
  beforeAll(async () => {
    fixture = await startConsole({ SERVICE_QUOTA_BYTES_PER_USER: String(MOST) });
    workspaces = await createWorkspaceHelpers(fixture);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  it('store the files that fit and show the reason for the others', async () => {
    const session = await workspaces.begin();
    const { page } = await fixture.open(`/sessions/${session}?view=files`);
    const file = (name: string, bytes: number) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer: randomBytes(bytes),
    });
    const chosen = [file('first.bin', 10), file('huge.bin', 3 * MOST), file('last.bin', 10)];
    await page.locator('input[type=file]').first().setInputFiles(chosen);
    await page.getByText('2 files uploaded, 1 failed').first().waitFor();
    await page.getByText(`your limit is ${MOST} bytes`).waitFor();
    const tree = page.getByRole('tree', { name: 'Files' });
    await tree.getByRole('treeitem', { name: 'last.bin' }).waitFor();
    expect(await tree.getByRole('treeitem').count()).toBe(2);
  });
});
