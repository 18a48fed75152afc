import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ASKS, type ChatClient, createChatClient, SUM } from '../edge/ai-stream/chat-client.ts';
import { openChromium } from '../support/chromium.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { serveChatPage } from './chat-page/serve.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const IMAGE = { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${PNG}` };
/** Takes minutes to stream, so it is always unfinished. */
const STORY = 'a long story '.repeat(4_000);
const SLOW = [{ text: STORY, chunk_chars: 4, delay_ms: 15 }];
const CITY = { type: 'client', name: 'city', description: 'The city.', input_schema: { type: 'object' } };
const CALL_CITY = { tool: 'city', input: {} };
const END = { text: 'You are in {{last_tool_output}}.' };
const TOOLS = { tools: [...ASKS, CITY] };

describe.each([
  ['6', { ai: 'ai-6', '@ai-sdk/react': 'ai-sdk-react-6' }],
  ['7', {}],
])('a React page on another port with AI SDK %s', (version, packages) => {
  const stack = new AsyncDisposableStack();
  let system: System;
  let client: ChatClient;
  let browser: Browser;
  let origin: string;
  beforeAll(async () => {
    ({ origin } = stack.use(await serveChatPage(packages)));
    system = stack.use(await startSystem({ SERVICE_ALLOWED_ORIGINS: origin }));
    client = createChatClient(system);
    browser = await openChromium();
    stack.defer(() => browser.close());
  });
  afterAll(() => stack.disposeAsync());

  async function open(session: string, options: Record<string, string> = {}): Promise<Page> {
    const page = await browser.newPage();
    const query = { service: system.url, session, sdk: version, on_disconnect: 'continue', output: '"Bern"' };
    const joined = joins(page);
    await page.goto(`${origin}/?${new URLSearchParams({ ...query, ...options })}`);
    await joined;
    return page;
  }
  /**
   * The answer to the request with which a page joins a running turn. A message sent before it starts
   * a turn that the page then reads twice, and stop() ends only one of the two streams.
   */
  const joins = (page: Page) =>
    page.waitForResponse(
      (response) => response.url().includes('/ai-stream') && response.request().method() === 'GET',
    );
  const send = (page: Page, message: object) =>
    page.evaluate(`void chat.sendMessage(${JSON.stringify(message)})`);
  const answer = (page: Page) => page.locator('.assistant').last();
  const textOf = async (page: Page) => (await answer(page).locator('span').allTextContents()).join('');
  const isReady = (page: Page) => page.locator('main[data-status=ready]').waitFor();
  /** Reloads the page and waits until it has joined a turn that waits for an answer. */
  const reload = async (page: Page) => {
    const joined = joins(page);
    await page.reload();
    expect((await joined).status()).toBe(200);
    await isReady(page);
  };
  const imageWidth = (page: Page) => page.evaluate("document.querySelector('.user img').naturalWidth");
  const statusIs = (session: string, status: string) =>
    until(`the turn has the status ${status}`, async () => {
      const turn = (await client.turnOf(session)) as { status?: string } | undefined;
      return turn?.status === status;
    });

  it('continues an answer to an image without repetition after a reload in the middle of it', async () => {
    const session = await client.begin(SLOW);
    const page = await open(session);
    await send(page, { text: 'tell', files: [IMAGE] });
    await answer(page).getByText('a long story').waitFor();
    await page.reload();
    await page.locator('.user').getByText('tell').waitFor();
    await until('the image is loaded from the service', async () => (await imageWidth(page)) === 1);
    expect(await page.locator('.user img').getAttribute('src')).toContain(`/sessions/${session}/parts/`);
    await answer(page).getByText('a long story').waitFor();
    const before = (await textOf(page)).length;
    await until('the answer has continued', async () => (await textOf(page)).length > before + 50);
    await client.api.post(`/sessions/${session}/interrupt`);
    await isReady(page);
    const shown = await textOf(page);
    expect(STORY.startsWith(shown)).toBe(true);
    expect(await page.locator('main > div').count()).toBe(2);
    await page.reload();
    await answer(page).waitFor();
    expect(await textOf(page)).toBe(shown);
    await page.close();
  });

  it('approves a call and answers a client tool after reloads, and the same message continues', async () => {
    const session = await client.begin([SUM, { text: 'I look.' }, CALL_CITY, END], TOOLS);
    const page = await open(session);
    await send(page, { text: 'where am I?' });
    await page.getByText('Approve').waitFor();
    await reload(page);
    await page.getByText('Approve').click();
    await page.getByText('Answer').waitFor();
    await reload(page);
    await page.getByText('Answer').click();
    await answer(page).getByText('You are in Bern.').waitFor();
    await isReady(page);
    const checkMessages = async () => {
      expect(await textOf(page)).toBe('I look.You are in Bern.');
      expect(await page.locator('main > div').count()).toBe(2);
      expect(await page.locator('output').textContent()).toBe('');
    };
    await checkMessages();
    await page.reload();
    await answer(page).waitFor();
    await checkMessages();
    await page.close();
  });

  it('answers a client tool in onToolCall, also when the page joins a turn that waits for it', async () => {
    const answers = { answers_calls: '1', output: '{"name":"Bern"}' };
    const sent = await open(await client.begin([SUM, CALL_CITY, END], TOOLS), answers);
    await send(sent, { text: 'where am I?' });
    await sent.getByText('Approve').click();
    await answer(sent).getByText('You are in {"name":"Bern"}.').waitFor();
    const session = await client.begin([CALL_CITY, END], TOOLS);
    const left = await open(session);
    await send(left, { text: 'where am I?' });
    await left.getByText('Answer').waitFor();
    await left.close();
    const joined = await open(session, answers);
    await answer(joined).getByText('You are in {"name":"Bern"}.').waitFor();
    for (const page of [sent, joined]) {
      await isReady(page);
      expect(await page.locator('main > div').count()).toBe(2);
      expect(await page.locator('output').textContent()).toBe('');
      await page.close();
    }
  });

  it('stops without ending the turn, and a reload joins it again', async () => {
    const session = await client.begin(SLOW);
    const page = await open(session);
    await send(page, { text: 'tell' });
    await answer(page).getByText('a long story').waitFor();
    await page.evaluate('void chat.stop()');
    await isReady(page);
    const shown = (await textOf(page)).length;
    await page.reload();
    await until('the answer has continued', async () => (await textOf(page)).length > shown + 50);
    await client.api.post(`/sessions/${session}/interrupt`);
    await statusIs(session, 'interrupted');
    await page.close();
  });

  it('stops and ends the turn with on_disconnect=interrupt', async () => {
    const session = await client.begin(SLOW);
    const page = await open(session, { on_disconnect: 'interrupt' });
    await send(page, { text: 'tell' });
    await answer(page).getByText('a long story').waitFor();
    await page.evaluate('void chat.stop()');
    await isReady(page);
    await statusIs(session, 'interrupted');
    const shown = await textOf(page);
    expect(shown).not.toBe('');
    await page.reload();
    await answer(page).waitFor();
    expect((await textOf(page)).startsWith(shown)).toBe(true);
    await page.close();
  });
});
