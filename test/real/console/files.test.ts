import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { until } from '../../support/wait.ts';
import {
  axeViolations,
  type ConsoleFixture,
  type ConsolePage,
  fitsWindow,
  type PageOptions,
  startConsole,
  tabTo,
} from './console-fixture.ts';
import { createWorkspaceHelpers, type WorkspaceHelpers } from './workspace-helpers.ts';

const MIB = 1024 * 1024;
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="32"><script>parent.ran = true</script><rect width="64" height="32"/></svg>';
const HOSTILE = '<img src=x onerror="window.ran = true">.txt';
const ARABIC = 'تقرير الطلبات.txt';
const TURNED = 'photo\u202egpj.exe';
const LONG = `${'é'.repeat(125)}.txt`;
/** Expressions evaluated in the page. They are strings because the tests compile without DOM types. */
const DONE = Promise.resolve();
const MARKED = `(({ value, selectionStart, selectionEnd }) => value?.slice(selectionStart, selectionEnd))(document.activeElement)`;
const dropping = (files: Record<string, string>) => `(() => {
  const data = new DataTransfer();
  for (const [name, text] of Object.entries(${JSON.stringify(files)})) data.items.add(new File([text], name));
  return data;
})()`;

describe('file browser of a session', () => {
  let fixture: ConsoleFixture;
  let workspaces: WorkspaceHelpers;
  let directory: string;
  beforeAll(async () => {
    fixture = await startConsole({ SERVICE_FILE_MAX_BYTES: String(4 * MIB) });
    workspaces = await createWorkspaceHelpers(fixture);
    directory = await mkdtemp(join(scratch(), 'ahs-test-files-'));
  });
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]();
    if (directory) await rm(directory, { recursive: true });
  });

  const open = (session: string, options?: PageOptions): Promise<ConsolePage> =>
    fixture.open(`/sessions/${session}?view=files`, options);

  const tree = (page: Page) => page.getByRole('tree', { name: 'Files' });
  const item = (page: Page, name: string) => tree(page).getByRole('treeitem', { name });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
  const title = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
  const active = (page: Page, name: string) =>
    until(`${name} is active`, async () => {
      const id = await tree(page).getAttribute('aria-activedescendant');
      return id !== null && ((await page.locator(`[id="${id}"]`).textContent()) ?? '').startsWith(name);
    });

  it('uploads dropped and selected files and previews them', async () => {
    const session = await workspaces.begin();
    const { page } = await open(session);
    await page.getByText('No files yet').waitFor();
    const dropped = await page.evaluateHandle(
      dropping({ 'notes.md': '# Notes\nsecond line\n', [HOSTILE]: 'nothing runs\n', '50%22.txt': 'exact' }),
    );
    for (const type of ['dragenter', 'dragover'])
      await tree(page).dispatchEvent(type, { dataTransfer: dropped });
    await page.getByText('Drop to upload to the workspace').waitFor();
    await tree(page).dispatchEvent('drop', { dataTransfer: dropped });
    await page.getByRole('region', { name: 'Uploads' }).getByText('3 files uploaded').waitFor();
    await item(page, HOSTILE).waitFor();
    expect((await workspaces.bytesOf(session, '50%22.txt')).toString()).toBe('exact');

    await item(page, 'notes.md').click();
    const content = page.getByRole('region', { name: 'Content of notes.md' });
    await content.getByText('second line').waitFor();
    expect(await content.textContent()).toBe('1# Notes2second line');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('notes.md');
    expect(await readFile(await download.path(), 'utf8')).toBe('# Notes\nsecond line\n');

    await mkdir(join(directory, 'pack/inner'), { recursive: true });
    await writeFile(join(directory, 'pack/inner/picture.svg'), PICTURE);
    await writeFile(join(directory, 'pack/list.txt'), 'one\n');
    await page.getByLabel('Folder to upload').setInputFiles(join(directory, 'pack'));
    await item(page, 'pack').click();
    await item(page, 'inner').click();
    await item(page, 'picture.svg').click();
    await page.getByRole('img', { name: 'picture.svg' }).waitFor();
    await page.getByText('64 × 32 pixels').waitFor();
    await item(page, HOSTILE).click();
    await page.getByText('nothing runs').waitFor();
    expect(await page.evaluate('window.ran')).toBe(undefined);
    await page.context().close();
  });

  it('shows upload progress and cancels and retries an upload', async () => {
    const session = await workspaces.begin();
    const { page, context } = await open(session);
    const bytes = randomBytes(3 * MIB);
    await writeFile(join(directory, 'large.bin'), bytes);
    const choose = () => page.getByLabel('Files to upload').setInputFiles(join(directory, 'large.bin'));
    const network = await context.newCDPSession(page);
    const limit = (uploadThroughput: number) =>
      network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await network.send('Network.enable');
    // The upload takes longer than the test needs to cancel it.
    await limit(MIB / 16);
    await page.getByText('No files yet').waitFor();
    await choose();
    const bar = page.getByRole('progressbar', { name: 'Upload of large.bin' });
    await until('some bytes have been sent', async () => {
      const now = Number((await bar.count()) && (await bar.getAttribute('aria-valuenow')));
      return now > 0 && now < 100;
    });
    await button(page, 'Cancel large.bin').click();
    await bar.waitFor({ state: 'detached' });
    await limit(-1);
    await context.setOffline(true);
    await choose();
    await page.getByText('The service cannot be reached.').waitFor();
    await context.setOffline(false);
    await button(page, 'Retry large.bin').click();
    await item(page, 'large.bin').click();
    expect((await workspaces.bytesOf(session, 'large.bin')).equals(bytes)).toBe(true);
    await page.getByText('This file type has no preview.').waitFor();
    await page.getByText(createHash('sha256').update(bytes).digest('hex')).waitFor();
    // A rejected file fails alone, with its reason.
    const data = await page.evaluateHandle(dropping({ 'one.txt': '1', '.ahs-mine': '2', 'two.txt': '3' }));
    await tree(page).dispatchEvent('drop', { dataTransfer: data });
    await page.getByText('The path must not have a part that begins with').waitFor();
    await item(page, 'two.txt').waitFor();
    await page.getByText('2 files uploaded, 1 failed').first().waitFor();
    await button(page, 'Dismiss').click();
    await page.getByLabel('Files to upload').setInputFiles({
      name: 'one.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('replaced'),
    });
    await dialog(page, 'Replace existing files?').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await button(page, 'Upload and replace').click();
    await until(
      'it is replaced',
      async () => (await workspaces.bytesOf(session, 'one.txt')).toString() === 'replaced',
    );
    await page.context().close();
  });

  it('uploads dropped folders and reports each rejected file separately', async () => {
    const session = await workspaces.begin();
    const { page, context } = await open(session);
    const project = join(directory, 'project');
    await mkdir(join(project, 'one/two/three'), { recursive: true });
    await mkdir(join(project, 'nothing/in it'), { recursive: true });
    await mkdir(join(project, 'many'));
    await writeFile(join(project, 'one/two/three', ARABIC), 'deep');
    await writeFile(join(project, '🦊.bin'), randomBytes(4 * MIB + 1));
    for (let at = 0; at < 120; at++) await writeFile(join(project, `many/${at}.txt`), String(at));
    await writeFile(join(directory, 'loose.txt'), 'loose');
    await page.getByText('No files yet').waitFor();
    const box = await tree(page).boundingBox();
    const hand = await context.newCDPSession(page);
    const data = { items: [], files: [project, join(directory, 'loose.txt')], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await hand.send('Input.dispatchDragEvent', {
        type,
        x: (box?.x ?? 0) + 40,
        y: (box?.y ?? 0) + 80,
        data,
      });
    await page.getByText('A file must have at most').waitFor();
    await page.getByText('123 files uploaded, 1 failed').first().waitFor();
    for (const path of ['nothing/in it', `one/two/three/${ARABIC}`, 'many/119.txt'])
      expect(
        (await fetch(workspaces.urlOf(session, `/entry?path=${encodeURIComponent(`project/${path}`)}`)))
          .status,
      ).toBe(200);
    expect((await workspaces.bytesOf(session, 'loose.txt')).toString()).toBe('loose');

    // A file that was deleted after its selection is not reported as a network error.
    await button(page, 'Dismiss').click();
    await context.setOffline(true);
    await page.getByLabel('Files to upload').setInputFiles(join(directory, 'loose.txt'));
    await button(page, 'Upload and replace').click();
    await page.getByText('The service cannot be reached.').waitFor();
    await rm(join(directory, 'loose.txt'));
    await context.setOffline(false);
    await button(page, 'Retry loose.txt').click();
    await page.getByText('The file has changed since it was selected').waitFor();
    await page.context().close();
  });

  it('renames, moves and deletes files with the keyboard only', async () => {
    const session = await workspaces.begin();
    await workspaces.put(session, {
      'a.txt': 'first',
      'b.txt': 'second',
      'src/main.ts': 'export {};',
      'src/deep/x.md': '# x',
    });
    const { page } = await open(session);
    const { keyboard } = page;
    const press = (...keys: string[]) =>
      keys.reduce((done, key) => done.then(() => keyboard.press(key)), DONE);
    await item(page, 'src').waitFor();
    await tabTo(page, tree(page));
    await active(page, 'a.txt');
    await press('End');
    await active(page, 'src');
    await press('ArrowRight');
    await item(page, 'main.ts').waitFor();
    await press('ArrowRight', 'ArrowRight');
    await active(page, 'deep');
    await item(page, 'x.md').waitFor();
    expect(await item(page, 'x.md').getAttribute('aria-level')).toBe('3');
    await press('ArrowLeft', 'ArrowLeft');
    await active(page, 'src');
    await press('Home', 'm');
    await active(page, 'main.ts');
    await press('Enter');
    await title(page, 'main.ts').waitFor();
    expect(await item(page, 'main.ts').getAttribute('aria-selected')).toBe('true');
    expect(new URL(page.url()).searchParams.get('path')).toBe('src/main.ts');

    await press('F2');
    await dialog(page, 'Rename or move').waitFor();
    const field = page.getByRole('textbox', { name: 'New path' });
    await until('its name is selected', async () => (await page.evaluate(MARKED)) === 'main');
    await keyboard.type('index');
    await press('Enter');
    await title(page, 'index.ts').waitFor();
    await item(page, 'index.ts').waitFor();
    await tree(page).and(page.locator(':focus')).waitFor();

    await press('F2');
    await until('its name is selected', async () => (await page.evaluate(MARKED)) === 'index');
    await field.and(page.locator(':focus')).waitFor();
    await press('Control+A');
    await keyboard.type('b.txt');
    await press('Enter');
    await page.getByText('This path already exists.').waitFor();
    await tabTo(page, button(page, 'Replace'));
    await press('Enter');
    await title(page, 'b.txt').waitFor();
    await until(
      'b.txt is the other',
      async () => (await workspaces.bytesOf(session, 'b.txt')).toString() === 'export {};',
    );

    await tabTo(page, tree(page));
    await press('Home', 's');
    await active(page, 'src');
    await press('Delete');
    await dialog(page, 'Delete this folder?').getByText('and everything in it').waitFor();
    await tabTo(
      page,
      dialog(page, 'Delete this folder?').getByRole('button', { name: 'Delete', exact: true }),
    );
    await press('Enter');
    await dialog(page, 'Delete this folder?').waitFor({ state: 'detached' });
    await item(page, 'src').waitFor({ state: 'detached' });
    expect((await fetch(workspaces.urlOf(session, '/content?path=src/deep/x.md'))).status).toBe(404);

    await tabTo(page, button(page, 'New folder'));
    await press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor();
    await keyboard.type('docs/images');
    await press('Enter');
    await item(page, 'images').waitFor();
    await page.context().close();
  });

  it('shows changes of an agent without a reload', async () => {
    const session = await workspaces.begin();
    await workspaces.put(session, { 'here.txt': 'before\n' });
    const { page } = await open(session);
    await item(page, 'here.txt').click();
    await page.getByText('before', { exact: true }).waitFor();
    const content =
      '$ mkdir out && echo made > out/by-agent.txt && echo after > here.txt && ln -s here.txt link';
    await fixture.api.post(`/sessions/${session}/messages`, { content });
    await item(page, 'out').waitFor();
    await page.getByText('after', { exact: true }).waitFor();
    await item(page, 'out').click();
    await item(page, 'by-agent.txt').click();
    await page.getByText('made', { exact: true }).waitFor();
    await page.context().close();
  });

  it('handles many files and unusual names in both themes and on a phone; an archived session is read-only', async () => {
    const session = await workspaces.begin();
    const log = Array.from({ length: 40_000 }, (_, line) => `line ${line} of a long log file`).join('\n');
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`many/${1_000 + at}.txt`, `${at}`]),
    );
    await workspaces.put(session, {
      ...many,
      [ARABIC]: 'نص\n',
      [TURNED]: 'MZ',
      [LONG]: 'long',
      'log.txt': log,
    });
    const { page } = await open(session);
    await item(page, 'photoU+202Egpj.exe').waitFor();
    await item(page, LONG).waitFor();
    await item(page, ARABIC).click();
    await page.getByText('نص').waitFor();
    await item(page, 'log.txt').click();
    await page.getByText('The preview ends after').waitFor();
    expect(
      await page.getByRole('region', { name: 'Content of log.txt' }).locator('div').count(),
    ).toBeLessThan(200);
    expect(await axeViolations(page)).toEqual([]);

    await item(page, 'many').click();
    await item(page, '1000.txt').waitFor();
    await tree(page).focus();
    await until('the last file is listed', async () => {
      await page.keyboard.press('End');
      return (await item(page, '1499.txt').count()) > 0;
    });
    expect(await tree(page).getByRole('treeitem').count()).toBeLessThan(100);
    // Reloading a later page keeps the earlier pages.
    await workspaces.put(session, { 'many/1498-and-a-half.txt': 'new' });
    await item(page, '1498-and-a-half.txt').waitFor();

    await page.setViewportSize({ width: 360, height: 740 });
    await item(page, '1499.txt').click();
    await title(page, '1499.txt').waitFor();
    await fitsWindow(page);
    expect(await axeViolations(page)).toEqual([]);

    await fixture.api.post(`/sessions/${session}/archive`);
    // The page is left first, because its last requests would be counted.
    const address = page.url();
    await page.goto('about:blank');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(address);
    // A linked file is requested individually, regardless of the length of its folder.
    await title(page, '1499.txt').waitFor();
    const marked = tree(page).locator('[aria-selected=true]');
    await marked.filter({ hasText: '1499.txt' }).waitFor();
    expect(await marked.count()).toBe(1);
    await item(page, '1099.txt').waitFor();
    // Two pages, and one more for the end of the loaded rows; not all earlier pages.
    expect(asked.filter((url) => /\/files\?/.test(url)).length).toBeLessThanOrEqual(3);
    await page.getByText('Read only').waitFor();
    for (const name of ['Upload', 'New folder', 'Rename or move', 'Delete'])
      expect(await button(page, name).count()).toBe(0);
    await page.context().close();
  });
});
