import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleFixture, startConsole } from './console-fixture.ts';

/** Maximum number of HTTP/1.1 connections of a browser to one host. */
const CONNECTIONS = 6;
const LONG_MS = 10_000;

describe('session pages in hidden tabs', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  async function begin(): Promise<string> {
    const agent = await fixture.api.createAgent();
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, { message: 'First' });
    return String(body.data.session_id);
  }

  const live = (page: Page) => page.getByText('Connection: Live').waitFor();

  /** Simulates a background tab. */
  const turn = (page: Page, hidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);

  it('release their connections for visible tabs', async () => {
    const session = await begin();
    const { context, page: first } = await fixture.open('/');
    await first.close();
    await context.clock.install();
    for (let tab = 0; tab < CONNECTIONS; tab++) {
      const page = await context.newPage();
      await page.goto(`/sessions/${session}`);
      await live(page);
      await turn(page, true);
    }
    await context.clock.fastForward(LONG_MS);
    const seventh = await context.newPage();
    await seventh.goto(`/sessions/${session}`);
    await live(seventh);
    await context.close();
  });

  it('show every missed event once when they become visible again', async () => {
    const session = await begin();
    const { page, context } = await fixture.open('/');
    await page.clock.install();
    await page.goto(`/sessions/${session}`);
    await live(page);
    const answers = page.getByRole('article', { name: 'Message from Agent' });
    await answers.getByText('First').waitFor();
    await page.getByText('Turn completed').waitFor();
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/events/stream'));
    await turn(page, true);
    await page.clock.fastForward(LONG_MS);
    await ended;
    const { status, body } = await fixture.api.post(`/sessions/${session}/messages`, {
      content: 'Another question',
    });
    expect(status, JSON.stringify(body)).toBe(202);
    await turn(page, false);
    await answers.getByText('Another question').waitFor();
    await live(page);
    // The user message and the reply of the echo model.
    expect(await page.getByRole('article').getByText('Another question').count()).toBe(2);
    await context.close();
  });
});
