import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, fitsWindow, startConsole, tabTo } from './console-fixture.ts';

/** An agent that writes a message, needs an approval for a calculation and writes the result. */
const CAREFUL = {
  name: 'Careful',
  model: 'rehearsal/script',
  tools: [{ name: 'calculator', permission: 'ask' }],
  model_options: {
    steps: [
      { thinking: 'Six times seven. I had better calculate.' },
      { text: 'I will **calculate** it.', chunk_chars: 4 },
      { tool: 'calculator', input: { expression: '6 * 7' } },
      { text: 'It is {{last_tool_output}} then.', chunk_chars: 4 },
    ],
  },
};
/** An agent that writes for minutes, so that it is interrupted. */
const SLOW = {
  name: 'Slow',
  model: 'rehearsal/script',
  model_options: { steps: [{ text: 'word '.repeat(10_000), chunk_chars: 5, delay_ms: 40 }] },
};

describe('session page', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  async function begin(agent: object, message: string): Promise<string> {
    const id = await fixture.api.createAgent(agent);
    const { body } = await fixture.api.post(`/agents/${id}/conversations`, { message });
    return String(body.data.session_id);
  }
  const shown = async (session: string) => (await fixture.api.get(`/sessions/${session}`)).body.data;
  const ended = (session: string, reason = 'end_turn') =>
    until('the turn has ended', async () => {
      const { stop_reason: stopped } = await shown(session);
      return (stopped as { type?: string } | null)?.type === reason;
    });
  const completed = (session: string, count: number) =>
    until(`${count} turns are completed`, async () => {
      const { body } = await fixture.api.get(`/sessions/${session}/turns`);
      const turns = body.data as { status: string }[];
      return turns.filter(({ status }) => status === 'completed').length === count;
    });
  const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });

  it('shows messages and an approval, sends the decision and shows the result', async () => {
    const session = await begin(CAREFUL, 'What is six times seven?');
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`);
    const card = page.getByRole('article', { name: 'Call of calculator' });
    await card.getByText('Waiting for approval').waitFor();
    await page.getByText('Waiting for your decision on calculator.').waitFor();
    expect(await card.getByRole('region', { name: 'Input of calculator' }).textContent()).toContain(
      'expression6 * 7',
    );
    await page.locator('strong', { hasText: 'calculate' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await card.getByRole('button', { name: 'Allow' }).click();
    await conversation(page).getByText('It is 42 then.').waitFor();
    await page.getByText(/Turn completed .* 2 steps · 1 call/).waitFor();
    await card.getByText('Done').waitFor();
    await page.getByRole('button', { name: /^Turn completed/ }).press('Enter');
    await page
      .getByRole('region', { name: /^Event \d+$/ })
      .and(page.locator(':focus'))
      .waitFor();
    await page.getByRole('button', { name: 'Close event' }).press('Enter');
    await page.getByRole('listbox', { name: 'Events' }).and(page.locator(':focus')).waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('runs a call with edited input and sends the reason of a denial to the agent', async () => {
    const edited = await begin(CAREFUL, 'edit');
    const { page } = await fixture.open(`/sessions/${edited}`);
    await page.getByRole('button', { name: 'Edit input' }).click();
    const field = page.getByRole('textbox', { name: 'Edited input' });
    await field.fill('{"expression": ');
    await page.getByText('Enter a JSON object.').waitFor();
    expect(await page.getByRole('button', { name: 'Allow with edited input' }).isDisabled()).toBe(true);
    await field.fill('{"expression": "6 * 8"}');
    await page.getByRole('button', { name: 'Allow with edited input' }).click();
    await conversation(page).getByText('48 then.').waitFor();
    await page.context().close();

    const denied = await begin(CAREFUL, 'deny');
    const other = await fixture.open(`/sessions/${denied}`);
    await other.page.getByRole('button', { name: 'Deny' }).click();
    await other.page.getByRole('textbox', { name: 'Reason' }).press('Escape');
    await other.page.getByRole('button', { name: 'Allow' }).and(other.page.locator(':focus')).waitFor();
    await other.page.getByRole('button', { name: 'Deny' }).click();
    await other.page.getByRole('textbox', { name: 'Reason' }).fill('not today');
    await other.page.getByRole('button', { name: 'Deny' }).click();
    await other.page.getByText('Denied', { exact: true }).waitFor();
    await ended(denied);
    const { body } = await fixture.api.get(`/sessions/${denied}/approvals`);
    expect(body.data).toMatchObject([{ decision: 'deny', reason: 'not today' }]);
    await other.page.context().close();
  });

  it('sends, queues, stops and continues, and sends after an interruption', async () => {
    const session = await begin(SLOW, 'Write.');
    const { page } = await fixture.open(`/sessions/${session}`);
    await page.getByText('The agent is writing.').waitFor();
    await page.getByText('word word').first().waitFor();
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('And then?');
    await page.getByRole('button', { name: 'Queue' }).click();
    await page.getByText('1 message queued').waitFor();
    const messages = page.getByRole('article', { name: 'Message from User' }).last();
    await messages.getByText('Queued', { exact: true }).waitFor();
    await messages.getByText('And then?').waitFor();
    // The queue may appear before the response to the message.
    await until('the message field is empty', async () => (await message.inputValue()) === '');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Turn interrupted').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The agent is writing.').waitFor();
    await message.fill('Stop, and say this.');
    await page.getByRole('button', { name: 'More send options' }).click();
    await page.getByRole('menuitem', { name: 'Interrupt and send' }).click();
    await conversation(page).getByText('Stop, and say this.').waitFor();
    await until('two turns were interrupted', async () => {
      const { body } = await fixture.api.get(`/sessions/${session}/turns`);
      return (
        (body.data as { status: string }[]).filter(({ status }) => status === 'interrupted').length === 2
      );
    });
    await fixture.api.post(`/sessions/${session}/interrupt`);
    await page.context().close();
  });

  it('resumes after a network failure without missing or repeated events', async () => {
    const session = await begin({}, 'before');
    await ended(session);
    const { page, context } = await fixture.open(`/sessions/${session}`);
    await page.getByText('Connection: Live').waitFor();
    expect(await page.getByRole('status').filter({ hasText: 'as they happen' }).count()).toBe(0);
    await context.setOffline(true);
    await page.getByText('Connection: Reconnecting').waitFor();
    await page.getByRole('status').filter({ hasText: 'Connection lost.' }).waitFor();
    for (const content of ['first while away', 'second while away'])
      await fixture.api.post(`/sessions/${session}/messages`, { content });
    await completed(session, 3);
    await context.setOffline(false);
    await page.getByText('Connection: Live').waitFor();
    await conversation(page).getByText('Turn completed').nth(2).waitFor();
    for (const text of ['before', 'first while away', 'second while away'])
      expect(await conversation(page).getByText(text, { exact: true }).count(), text).toBe(2);
    expect(await conversation(page).getByText('Turn completed').count()).toBe(3);
    await page.context().close();
  });

  it('shows turns as time spans that link to their events', async () => {
    const session = await begin(CAREFUL, 'time');
    await ended(session, 'requires_action');
    const { page, consoleMessages } = await fixture.open('/sessions');
    const turnRequests: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes(`/sessions/${session}/turns`)) turnRequests.push(request.url());
    });
    await page.goto(`/sessions/${session}?view=timeline`);
    await page.getByRole('link', { name: /Approval of calculator/ }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('link', { name: /Approval of calculator/ }).click();
    await page.getByRole('heading', { name: /approval\.requested/ }).waitFor();
    expect(turnRequests).toHaveLength(1);
    expect(new URL(page.url()).searchParams.get('view')).toBe('raw');
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('shows the raw events with type filters, keyboard navigation and links', async () => {
    const session = await begin({}, 'raw');
    await ended(session);
    const { body } = await fixture.api.get(`/sessions/${session}/events?limit=100`);
    const events = body.data as { seq: number; type: string }[];
    const { page } = await fixture.open(`/sessions/${session}?view=raw`);
    const list = page.getByRole('listbox', { name: 'Events' });
    await list.focus();
    await page.keyboard.press('End');
    const last = events.at(-1);
    const code = page.getByRole('region', { name: `JSON of event ${last?.seq}` });
    expect(JSON.parse((await code.textContent()) ?? '')).toEqual(last);
    await page.keyboard.press('ArrowUp');
    await page.getByRole('heading', { name: `${(last?.seq ?? 0) - 1} turn.completed` }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Types' }).click();
    await page.getByRole('option', { name: 'user.*' }).click();
    const some = page.getByRole('listbox', { name: 'Events of these types' });
    await some.getByRole('option', { name: /^2 user\.message/ }).waitFor();
    expect(await some.getByRole('option').count()).toBe(1);

    await page.goto(`/sessions/${session}?view=raw&event=2`);
    await page.getByRole('region', { name: 'JSON of event 2' }).waitFor();
    await page.goto(`/sessions/${session}?event=2`);
    await conversation(page).getByText('raw', { exact: true }).first().waitFor();
    await page.context().close();
  });

  it('forks from a message', async () => {
    const session = await begin({}, 'one');
    await ended(session);
    await fixture.api.post(`/sessions/${session}/messages`, { content: 'two' });
    await completed(session, 2);
    const { page } = await fixture.open(`/sessions/${session}`);
    const messages = page.getByRole('article', { name: 'Message from Agent' });
    await messages.nth(1).waitFor();
    await messages
      .first()
      .getByRole('button', { name: /Actions for event/ })
      .click();
    await page.getByRole('menuitem', { name: 'Fork from here' }).click();
    await page.getByText(`Forked from ${session}`).waitFor();
    expect(page.url()).not.toContain(session);
    expect(await conversation(page).getByText('two', { exact: true }).count()).toBe(0);
    await page.context().close();
  });

  it('renames, archives and deletes the session with a notification for each', async () => {
    const session = await begin({}, 'to be gone');
    await ended(session);
    const { page } = await fixture.open(`/sessions/${session}`);
    const more = page.getByRole('button', { name: 'Session actions' });
    const name = '🦊 שלום '.repeat(20).trim();
    await more.click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill(name);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByText('Archived', { exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
    await more.click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('permanently').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect((await fixture.api.get(`/sessions/${session}`)).status).toBe(404);
    await page.context().close();
  });

  it('shows that the session was deleted while the page is open', async () => {
    const session = await begin({}, 'soon gone');
    await ended(session);
    const { page } = await fixture.open(`/sessions/${session}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('too late');
    await page.getByText('Connection: Live').waitFor();
    await fixture.api.send('DELETE', `/sessions/${session}`);
    await page.getByRole('alert').getByText('This session was deleted').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
    await conversation(page).getByText('soon gone', { exact: true }).first().waitFor();
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByText('no longer available').waitFor();
    for (const name of [/Download/, 'Upload', 'Try again'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    await page.getByRole('link', { name: 'Show your sessions' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await page.context().close();
  });

  it('shows an unreachable service and keeps the unsent message', async () => {
    const session = await begin({}, 'quiet');
    await ended(session);
    const { page } = await fixture.open('/sessions');
    await page.clock.install();
    await page.goto(`/sessions/${session}`);
    const message = page.getByRole('textbox', { name: 'Message' });
    const messages = '**/messages';
    const first = page.waitForRequest(messages);
    await page.route(messages, () => {});
    await message.fill('Anybody there?');
    await page.keyboard.press('Enter');
    await first;
    await page.clock.fastForward(30_000);
    await page.getByRole('alert').getByText('The service did not respond in time.').waitFor();
    expect(await message.inputValue()).toBe('Anybody there?');

    // The user edits the message during the retry.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    const held = Promise.withResolvers<void>();
    await page.route(messages, async (route) => {
      await held.promise;
      await route.continue();
    });
    await message.press('Enter');
    await message.fill('And one thing more');
    held.resolve();
    await conversation(page).getByText('Anybody there?').first().waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(await message.inputValue()).toBe('And one thing more');
    await page.context().close();
  });

  it('keeps the unsent message when the view changes', async () => {
    const session = await begin({}, 'views');
    await ended(session);
    const { page } = await fixture.open(`/sessions/${session}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByRole('tab', { name: 'Chat' }).click();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a thought');
    await page.context().close();
  });

  it('renders Markdown headings below the page headings without gaps and keeps line breaks', async () => {
    const text = '# Report\n\n## Part\n\n##### Deep\n\nDone.\nAll of it.';
    const session = await begin({}, text);
    await ended(session);
    const { page } = await fixture.open(`/sessions/${session}`);
    const messages = page.getByRole('article', { name: 'Message from Agent' });
    await messages.getByRole('heading', { level: 3, name: 'Report' }).waitFor();
    await messages.getByRole('heading', { level: 4, name: 'Part' }).waitFor();
    await messages.getByRole('heading', { level: 5, name: 'Deep' }).waitFor();
    expect(await page.evaluate(`document.querySelector('article .prose > p').innerText`)).toBe(
      'Done.\nAll of it.',
    );
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
    await page.context().close();
  });

  it('is found in the session list by the name of its agent', async () => {
    const names = ['Finder 🔎', 'وكيل البحث'];
    for (const name of names) await ended(await begin({ name }, `by ${name}`));
    const { page } = await fixture.open('/sessions');
    // Simulates an agent that is not among the newest agents.
    await page.route('**/api/v1/agents', (route) =>
      route.continue({ url: `${route.request().url()}?limit=1` }),
    );
    await page.reload();
    const row = (name: string) => page.getByRole('row').filter({ hasText: `by ${name}` });
    for (const name of names) await row(name).getByRole('link', { name, exact: true }).waitFor();
    const filter = page.getByRole('combobox', { name: 'Agent', exact: true });
    await filter.click();
    await page.getByRole('combobox', { name: 'Search agents by name' }).fill('Finder');
    await until('no more requests are sent', async () => {
      const [first = '', ...others] = await page.getByRole('option').allTextContents();
      return first.startsWith('Finder') && others.length === 0;
    });
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option').and(page.locator('[data-highlighted]')).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/[?&]agent=agt_/);
    await row(names[1] ?? '').waitFor({ state: 'detached' });
    await page.reload();
    await row(names[0] ?? '').waitFor();
    await until('the filter shows its name', async () => (await filter.textContent()) === names[0]);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Agent: any' }).click();
    await row(names[1] ?? '').waitFor();
    expect(new URL(page.url()).searchParams.has('agent')).toBe(false);
    await page.context().close();
  });

  it('renders no links for javascript: URLs', async () => {
    const text = '[run](javascript:alert(1)) ![look](javascript:alert(2)) [read](https://example.com/)';
    const session = await begin({}, text);
    const { page } = await fixture.open(`/sessions/${session}`);
    const messages = page.getByRole('article', { name: 'Message from Agent' });
    await messages.getByRole('link', { name: 'read' }).waitFor();
    const addresses = await messages
      .locator('a')
      .evaluateAll((links: { getAttribute(name: string): string | null }[]) =>
        links.map((link) => link.getAttribute('href')),
      );
    expect(addresses.filter((address) => address?.includes('javascript'))).toEqual([]);
    await page.context().close();
  });

  it('is found, opened and answered with the keyboard only', async () => {
    const session = await begin({ ...CAREFUL, name: 'By keyboard' }, 'keyboard only');
    await ended(session, 'requires_action');
    const { page } = await fixture.open('/');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Deployments').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+k');
    await page
      .getByRole('dialog', { name: 'Search' })
      .getByRole('combobox')
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.type('keyboard only');
    await page.getByRole('option', { name: /keyboard only/ }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/sessions/${session}`);
    const allow = page.getByRole('button', { name: 'Allow' });
    await tabTo(page, allow);
    // The button is gone and the result is announced. The announcement is on the page for ten seconds.
    await Promise.all([
      page.getByRole('status').filter({ hasText: 'Agent: It is 42 then.' }).waitFor(),
      page.keyboard.press('Enter'),
    ]);
    await conversation(page).getByText('It is 42 then.').waitFor();
    await page
      .getByRole('button', { name: /^calculator/ })
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('c');
    await page.keyboard.type('thanks');
    await page.keyboard.press('Enter');
    await conversation(page).getByText('thanks', { exact: true }).waitFor();
    await page.context().close();
  });

  it('has no serious axe violations at the width of a phone', async () => {
    const session = await begin(CAREFUL, 'a very long word: '.concat('x'.repeat(500)));
    await ended(session, 'requires_action');
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`, {
      width: 360,
      theme: 'dark',
    });
    for (const tab of ['Timeline', 'Raw', 'Chat']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tab', { name: tab, selected: true }).waitFor();
      await fitsWindow(page);
    }
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('shows the next step when there are no sessions', async () => {
    const { page } = await fixture.open('/sessions/ses_00000000000000000000000000');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.goto('/no/such/page');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.getByRole('link', { name: 'Go home' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.context().close();
  });
});
