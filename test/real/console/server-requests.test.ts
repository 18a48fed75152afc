import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createServerTools, FORM_REQUEST, LINK_REQUEST, STATE } from '../../support/server-tools.ts';
import { startInProcess } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import {
  axeViolations,
  type ConsoleFixture,
  fitsWindow,
  PAGE_STORAGE,
  startConsole,
  tabTo,
} from './console-fixture.ts';

const PHONE_PX = 390;
/** Evaluated in the page. It is a string because the tests compile without DOM types. */

describe('requests of servers in the chat', () => {
  const server = createServerTools();
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole({}, (settings) => startInProcess(settings, server.tools));
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  beforeEach(() => {
    server.isConnected = false;
    server.runs.length = 0;
  });

  /** Starts a session whose agent calls these tools in one step. */
  async function begin(...tools: string[]): Promise<string> {
    const steps = [...tools.map((tool) => ({ tool, input: {} })), { text: 'Finished.' }];
    const agent = await fixture.api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, { message: 'Go.' });
    return String(body.data.session_id);
  }
  const cardOf = (page: Page, tool: string) => page.getByRole('article', { name: `Call of ${tool}` });
  const button = (card: Locator | Page, name: string | RegExp) => card.getByRole('button', { name });
  const finished = (page: Page) => page.getByText('Finished.', { exact: true }).waitFor();

  async function decideElsewhere(session: string, decision: object): Promise<void> {
    const { body } = await fixture.api.get(`/sessions/${session}/approvals?status=pending`);
    const [approval] = body.data as { approval_id: string }[];
    await fixture.api.post(`/sessions/${session}/approvals/${approval?.approval_id}`, decision);
  }

  it('names the server and the host, and tries again with the keyboard', async () => {
    const session = await begin('server_act');
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`);
    const card = cardOf(page, 'server_act');
    await card.getByRole('group', { name: 'Connect to GitHub (api.github.test)' }).waitFor();
    await card.getByText('Waiting for a connection').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    server.isConnected = true;
    await tabTo(page, button(card, /^Try again/));
    await page.keyboard.press('Enter');
    await finished(page);
    expect(server.runs).toHaveLength(1);
    expect(consoleMessages).toEqual([]);
  });

  it('goes on without the server', async () => {
    const session = await begin('server_act');
    const { page } = await fixture.open(`/sessions/${session}`);
    const card = cardOf(page, 'server_act');
    await button(card, /^Go on without/).click();
    await finished(page);
    await card.getByText('No access', { exact: true }).waitFor();
    expect(server.runs).toEqual([]);
  });

  it('shows one form for calls that share an approval, which closes when it is decided elsewhere', async () => {
    const session = await begin('server_act', 'server_act');
    const { page } = await fixture.open(`/sessions/${session}`, { width: PHONE_PX });
    await button(page, /^Try again/).waitFor();
    expect(await button(page, /^Try again/).count()).toBe(1);
    await page.getByText('Waits for the same decision as an earlier call.').waitFor();
    await fitsWindow(page);
    server.isConnected = true;
    await decideElsewhere(session, { decision: 'retry' });
    await finished(page);
    expect(await button(page, /^Try again/).count()).toBe(0);
    expect(server.runs).toHaveLength(2);
  });

  it('sends the content of the form to the server, and shows refused fields beside them', async () => {
    const session = await begin('server_form');
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`, { width: PHONE_PX });
    const card = cardOf(page, 'server_form');
    await card.getByText(FORM_REQUEST.message).waitFor();
    await fitsWindow(page);
    expect(await axeViolations(page)).toEqual([]);
    await button(card, 'Answer').click();
    await card.getByText('This field is required.').waitFor();
    await card.getByLabel('Branch').fill('x');
    await button(card, 'Answer').click();
    await card.getByText('The value must have at least 2 characters.').waitFor();
    await card.getByLabel('Branch').fill('main');
    await card.getByRole('checkbox').click();
    await button(card, 'Answer').click();
    await finished(page);
    await until('the tool has the answer', () => server.runs.length === 2);
    expect(server.runs[1]?.answer).toMatchObject({
      decision: 'accept',
      content: { branch: 'main', notify: true },
    });
    expect(await page.evaluate(PAGE_STORAGE)).not.toContain(STATE);
    // The browser logs each refused request.
    expect(consoleMessages.filter((message) => !message.includes('400'))).toEqual([]);
  });

  it.each([
    ['decline', /^Decline/],
    ['cancel', /^Cancel/],
  ])('tells the server that a form was answered with %s', async (decision, name) => {
    const session = await begin('server_form');
    const { page } = await fixture.open(`/sessions/${session}`);
    await button(cardOf(page, 'server_form'), name).click();
    await finished(page);
    expect(server.runs.map(({ answer }) => answer?.decision)).toEqual([undefined, decision]);
  });

  it('shows the full domain of a link before it is opened by the user', async () => {
    const session = await begin('server_link');
    const { page } = await fixture.open(`/sessions/${session}`, { width: PHONE_PX });
    const card = cardOf(page, 'server_link');
    const { url } = LINK_REQUEST as { url: string };
    await card.getByText(new URL(url).host, { exact: true }).waitFor();
    await card.getByText(url, { exact: true }).waitFor();
    const link = card.getByRole('link', { name: /^Open the link/ });
    expect(await link.getAttribute('href')).toBe(url);
    expect(await link.getAttribute('rel')).toContain('noopener');
    await fitsWindow(page);
    expect(await axeViolations(page)).toEqual([]);
    await button(card, 'I have done this').click();
    await finished(page);
    expect(server.runs.map(({ answer }) => answer?.decision)).toEqual([undefined, 'accept']);
  });
});
