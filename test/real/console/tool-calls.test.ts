import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, fitsWindow, startConsole, tabTo } from './console-fixture.ts';
import { createWorkspaceHelpers, type WorkspaceHelpers } from './workspace-helpers.ts';

const PHONE_PX = 390;
const COMMAND = Array.from(
  { length: 40 },
  (_, index) => `echo "step ${index + 1}: a line that is long enough"${index === 20 ? 'x'.repeat(200) : ''}`,
).join('\n');
/** Expressions evaluated in the page. They are strings because the tests compile without DOM types. */
const OVERFLOWING = `Array.from(document.querySelectorAll('article *'))
  .filter((element) => element.scrollWidth > element.clientWidth + 1
    && ['auto', 'scroll'].includes(getComputedStyle(element).overflowX)).length`;

const PARAGRAPH = 'A paragraph of the report.';
/** An answer with blocks of every kind, and a link definition at its end. It takes several seconds. */
const ANSWER = [
  '# Report\n\nSee [the guide][guide].\n\n- one\n\n  more of one\n- two\n\n',
  '```js\nconst a = 1;\n\n# no heading\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n',
  `${PARAGRAPH}\n\n`.repeat(60),
  '[guide]: https://example.com/guide\n\nThe end.',
].join('');
/** Marks the heading and the table when a paragraph follows them, and counts the links of that moment. */
const MARK_BLOCKS = `{
  const observer = new MutationObserver(() => {
    const blocks = document.querySelectorAll('.prose > h3, .prose table');
    const paragraphs = Array.from(document.querySelectorAll('.prose > p'), (paragraph) => paragraph.textContent);
    if (blocks.length < 2 || !paragraphs.includes('${PARAGRAPH}')) return;
    observer.disconnect();
    for (const block of blocks) block.classList.add('kept');
    document.documentElement.dataset.links = document.querySelectorAll('.prose a').length;
  });
  observer.observe(document, { subtree: true, childList: true, characterData: true });
}`;

describe('tool calls and answers in the chat', () => {
  let fixture: ConsoleFixture;
  let workspaces: WorkspaceHelpers;
  beforeAll(async () => {
    fixture = await startConsole();
    workspaces = await createWorkspaceHelpers(fixture);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  /** Starts a session whose agent calls one tool. `files` are in the workspace before the call. */
  async function begin(
    tool: string,
    input: object,
    { permission = 'ask', files = {} }: { permission?: string; files?: Record<string, string> } = {},
  ): Promise<string> {
    const { environmentId: environment_id } = workspaces;
    const steps = [{ tool, input }, { text: 'Finished.' }];
    const agent = await fixture.api.createAgent({
      model: 'rehearsal/script',
      environment_id,
      tools: [{ name: tool, permission }],
      model_options: { steps },
    });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`);
    const session = String(body.data.session_id);
    if (Object.keys(files).length > 0) await workspaces.put(session, files);
    await fixture.api.post(`/sessions/${session}/messages`, { content: 'Go.' });
    return session;
  }
  const cardOf = (page: Page, tool: string) => page.getByRole('article', { name: `Call of ${tool}` });
  const inputOf = (page: Page, tool: string) => page.getByRole('region', { name: `Input of ${tool}` });
  const button = (card: Locator, name: string | RegExp) => card.getByRole('button', { name });

  it('allows a command of 40 lines only after all of it is shown, at the width of a phone', async () => {
    const session = await begin('bash', { command: COMMAND });
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`, { width: PHONE_PX });
    const card = cardOf(page, 'bash');
    const input = inputOf(page, 'bash');
    const showAll = button(card, 'Show all 40 lines');
    await showAll.waitFor();
    expect((await input.textContent())?.split('\n')).toHaveLength(20);
    expect(await button(card, /^Allow/).isDisabled()).toBe(true);
    expect(await button(card, /^Edit input/).isDisabled()).toBe(true);
    expect(await button(card, /^Copy/).count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);

    await tabTo(page, showAll);
    await page.keyboard.press('Tab');
    await button(card, /^Deny/).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await input.and(page.locator(':focus')).waitFor();
    expect(await input.locator('pre').textContent()).toBe(COMMAND);
    await fitsWindow(page);
    expect(await page.evaluate(OVERFLOWING)).toBe(0);
    await button(card, 'Copy: Input of bash').waitFor();
    expect(await axeViolations(page)).toEqual([]);

    await tabTo(page, button(card, /^Allow/));
    await page.keyboard.press('Enter');
    await page.getByText('Finished.', { exact: true }).waitFor();
    await card.getByText('Done', { exact: true }).waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('keeps a call that needs approval in view while the content above it grows', async () => {
    const steps = [{ text: 'A paragraph.\n\n'.repeat(30) }, { tool: 'bash', input: { command: 'echo one' } }];
    const tools = [{ name: 'bash', permission: 'ask' }];
    const agent = await fixture.api.createAgent({
      model: 'rehearsal/script',
      tools,
      model_options: { steps },
    });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, { message: 'Go.' });
    const { page } = await fixture.open(`/sessions/${body.data.session_id}`, { width: PHONE_PX });
    const allow = button(cardOf(page, 'bash'), 'Allow');
    const isInView = async () => {
      const shown = await page.getByRole('region', { name: 'Conversation' }).boundingBox();
      const at = await allow.boundingBox();
      return shown !== null && at !== null && at.y > shown.y && at.y + at.height < shown.y + shown.height;
    };
    await allow.waitFor();
    await until('the button is in view', isInView);
    await page.evaluate(`document.querySelector('.prose').style.paddingBottom = '2000px'`);
    await until('the button is in view again', isInView);
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('runs a command that was edited as text', async () => {
    const session = await begin('bash', { command: 'echo one\necho two' });
    const { page } = await fixture.open(`/sessions/${session}`);
    const card = cardOf(page, 'bash');
    await button(card, /^Edit input/).click();
    const field = card.getByRole('textbox', { name: 'Command' });
    expect(await field.inputValue()).toBe('echo one\necho two');
    await field.fill('');
    await card.getByText('Enter a command.').waitFor();
    expect(await button(card, 'Allow with edited input').isDisabled()).toBe(true);
    await field.fill('echo one\necho three');
    await button(card, 'Allow with edited input').click();
    await page.getByText('Finished.', { exact: true }).waitFor();
    await card.getByText('Done', { exact: true }).waitFor();
    await button(card, /^bash/).click();
    await card.getByRole('region', { name: 'Edited input' }).getByText('echo three').waitFor();
    expect(await card.getByRole('region', { name: 'Output of bash' }).textContent()).toBe('one\nthree\n');
    await page.context().close();
  });

  it('shows a written file as a diff with the current file, and an edit as a diff', async () => {
    const files = { 'notes.md': 'one\ntwo\nthree\n' };
    const written = await begin('write_file', { path: 'notes.md', content: 'one\n2\nthree\n' }, { files });
    const { page, consoleMessages } = await fixture.open(`/sessions/${written}`);
    const input = inputOf(page, 'write_file');
    await input.getByText('Replaces the file', { exact: true }).waitFor();
    expect(await input.getByRole('deletion').allTextContents()).toEqual(['Removed: two']);
    expect(await input.getByRole('insertion').allTextContents()).toEqual(['Added: 2']);
    expect(await axeViolations(page)).toEqual([]);
    await button(cardOf(page, 'write_file'), /^Edit input/).click();
    await page.getByRole('textbox', { name: 'Content' }).fill('one\nzwei\nthree\n');
    await page.getByRole('button', { name: 'Allow with edited input' }).click();
    await page.getByText('Finished.', { exact: true }).waitFor();
    expect(String(await workspaces.bytesOf(written, 'notes.md'))).toBe('one\nzwei\nthree\n');
    expect(consoleMessages).toEqual([]);
    await page.context().close();

    const edited = await begin(
      'edit_file',
      { path: 'notes.md', old_text: 'two\n', new_text: '2\n2a\n' },
      { files },
    );
    const other = await fixture.open(`/sessions/${edited}`, { width: PHONE_PX, theme: 'dark' });
    const edit = inputOf(other.page, 'edit_file');
    await edit.getByRole('deletion').getByText('two').waitFor();
    expect(await edit.getByRole('insertion').count()).toBe(2);
    await fitsWindow(other.page);
    await other.page.context().close();
  });

  it('shows a new file with all lines added', async () => {
    const session = await begin('write_file', { path: 'new/file.txt', content: 'a\nb\n' });
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`);
    const input = inputOf(page, 'write_file');
    await input.getByText('Creates the file').waitFor();
    expect(await input.getByRole('insertion').allTextContents()).toEqual(['Added: a', 'Added: b']);
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('states that the file to replace could not be loaded', async () => {
    const session = await begin(
      'write_file',
      { path: 'file.txt', content: 'a\n' },
      { files: { 'file.txt': 'b\n' } },
    );
    const { page } = await fixture.open('/');
    await page.route(/\/files(\?|\/|$)/, (route) => route.fulfill({ status: 500 }));
    await page.goto(`/sessions/${session}`);
    const input = inputOf(page, 'write_file');
    await input.getByText('Unknown. The current file could not be loaded.').waitFor();
    await page.context().close();
  });

  it('shows the exit code of a command that failed and marks its stderr', async () => {
    const command = 'echo out; echo problem >&2; exit 3';
    const session = await begin('bash', { command }, { permission: 'allow' });
    const { page } = await fixture.open(`/sessions/${session}`);
    await page.getByText('Finished.', { exact: true }).waitFor();
    const card = cardOf(page, 'bash');
    await card.getByText('Exit code 3', { exact: true }).waitFor();
    expect(await button(card, /^bash/).getAttribute('aria-expanded')).toBe('true');
    const output = card.getByRole('region', { name: 'Output of bash' });
    expect(await output.textContent()).toBe('out\nstderr: problem\n[exit code 3]');
    await card.getByText('Marked text was printed to stderr.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByText('bash, exit code 3', { exact: true }).waitFor();
    await page.context().close();
  });

  it('opens the card of a failed call', async () => {
    const session = await begin('read_file', { path: 'missing.txt' }, { permission: 'allow' });
    const { page } = await fixture.open(`/sessions/${session}`);
    const card = cardOf(page, 'read_file');
    await card.getByText('Failed', { exact: true }).waitFor();
    await card.getByText('There is no file missing.txt.').waitFor();
    await page.context().close();
  });

  it('keeps the rendered blocks of an answer while the rest of its text arrives', async () => {
    const agent = await fixture.api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: ANSWER, chunk_chars: 8, delay_ms: 25 }] },
    });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`);
    const path = `/sessions/${body.data.session_id}`;
    const { page, consoleMessages } = await fixture.open('/');
    await page.addInitScript(MARK_BLOCKS);
    await page.goto(path);
    // The answer begins when the page can show it.
    await page.getByText('Connection: Live').waitFor();
    await fixture.api.post(`${path}/messages`, { content: 'Report.' });
    const message = page.getByRole('article', { name: 'Message from Agent' });
    await message.getByRole('heading', { name: 'Report' }).waitFor();
    await message.getByRole('table').waitFor();
    const marked = `document.querySelectorAll('.prose > h3.kept, .prose table.kept').length`;
    const links = page.locator('html[data-links]');
    await links.waitFor({ state: 'attached' });
    // The definition of the link has not arrived.
    expect(await links.getAttribute('data-links')).toBe('0');
    await page.getByText('Turn completed').waitFor();
    await message.getByText('The end.').waitFor();
    expect(await page.evaluate(marked)).toBe(2);
    await message.getByRole('link', { name: 'the guide' }).waitFor();
    expect(await message.getByRole('listitem').count()).toBe(2);
    expect(await message.getByRole('figure', { name: 'Code' }).textContent()).toContain('# no heading');
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });
});
