import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './stage.ts';

/** As many connections as a browser keeps to one service that speaks HTTP/1.1. */
const CONNECTIONS = 6;
const LONG_MS = 10_000;

describe('pages of sessions that nobody sees', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  async function begin(): Promise<string> {
    const agent = await stage.api.createAgent();
    const { body } = await stage.api.post(`/agents/${agent}/conversations`, { message: 'First' });
    return String(body.data.session_id);
  }

  const live = (page: Page) => page.getByText('Connection: Live').waitFor();

  /** As a browser does it with a tab behind another. */
  const turn = (page: Page, hidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);

  it('leave the connections of the browser to those that somebody sees', async () => {
    const session = await begin();
    const { context, page: first } = await stage.open('/');
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
    await seventh.goto(`/sessions/${session}`, { timeout: LONG_MS });
    await live(seventh);
    await context.close();
  });

  it('come back to all that has happened meanwhile, each event once', async () => {
    const session = await begin();
    const { page, context } = await stage.open('/');
    await page.clock.install();
    await page.goto(`/sessions/${session}`);
    await live(page);
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/events/stream'));
    await turn(page, true);
    await page.clock.fastForward(LONG_MS);
    await ended;
    await stage.api.post(`/sessions/${session}/messages`, { message: 'Second' });
    await turn(page, false);
    await page.getByRole('article', { name: 'Agent says' }).getByText('Second').waitFor();
    await live(page);
    // What was asked, and what the echo said.
    expect(await page.getByRole('article').getByText('Second').count()).toBe(2);
    await context.close();
  });
});
