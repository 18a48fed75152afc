import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, fitsWindow, startConsole } from './console-fixture.ts';

const script = (...steps: object[]) => ({ model: 'rehearsal/script', model_options: { steps } });
/** Writes for minutes. */
const SLOW = { name: 'Slow', ...script({ text: 'word '.repeat(10_000), chunk_chars: 5, delay_ms: 50 }) };
const IDLE_MS = 20_000;
const STEP_MS = 1_000;

describe('session control', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  async function begin(agent: object, message?: string): Promise<string> {
    const id = await fixture.api.createAgent(agent);
    const { body } = await fixture.api.post(`/agents/${id}/conversations`, message ? { message } : {});
    return String(body.data.session_id);
  }
  const sessionOf = async (id: string) => (await fixture.api.get(`/sessions/${id}`)).body.data;
  const reaches = (id: string, state: string | null) =>
    until(`the session is ${state}`, async () => (await sessionOf(id)).state === state);

  describe('Stop', () => {
    const queueIn = (page: Page) => page.getByRole('region', { name: 'Queued messages' });
    const message = (page: Page) => page.getByRole('textbox', { name: 'Message' });
    async function enqueue(page: Page, text: string): Promise<void> {
      await message(page).fill(text);
      await page.getByRole('button', { name: 'Queue', exact: true }).click();
      await queueIn(page).getByText(text, { exact: true }).waitFor();
      // The queue may appear before the response, after which the next message can be sent.
      await until('the message field is empty', async () => (await message(page).inputValue()) === '');
    }
    const turnsOf = async (id: string) => {
      const { body } = await fixture.api.get(`/sessions/${id}/turns`);
      return (body.data as { status: string }[]).map(({ status }) => status);
    };

    it('keeps two queued messages waiting, also after a reload, until the queue continues', async () => {
      const session = await begin(SLOW, 'Write.');
      const { page, consoleMessages } = await fixture.open(`/sessions/${session}`);
      await page.getByText('The agent is writing.').waitFor();
      await enqueue(page, 'First in the queue');
      await enqueue(page, 'Second in the queue');
      await queueIn(page).getByText('2 messages queued').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await queueIn(page).getByText('2 messages on hold').waitFor();
      await page.getByText('Stopped', { exact: true }).waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await page.reload();
      await queueIn(page).getByText('Second in the queue').waitFor();
      await enqueue(page, 'Behind the others');
      await queueIn(page).getByText('3 messages on hold').waitFor();
      expect(await turnsOf(session)).toEqual(['interrupted', 'queued', 'queued', 'queued']);
      expect(await sessionOf(session)).toMatchObject({ state: 'stopped', queue_held: true });
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('The agent is writing.').waitFor();
      await queueIn(page).getByText('2 messages queued').waitFor();
      expect(await turnsOf(session)).toEqual(['interrupted', 'in_progress', 'queued', 'queued']);
      await fixture.api.post(`/sessions/${session}/interrupt`, { queue: 'hold' });
      expect(consoleMessages).toEqual([]);
      await page.context().close();
    });

    it('keeps only the text that was typed while a message was being sent', async () => {
      const session = await begin(SLOW, 'Write.');
      const { page } = await fixture.open(`/sessions/${session}`);
      await page.getByText('The agent is writing.').waitFor();
      const sent = Promise.withResolvers<void>();
      await page.route('**/api/v1/sessions/*/messages', async (route) => {
        await sent.promise;
        await route.continue();
      });
      await message(page).fill('First');
      await message(page).press('Enter');
      await message(page).pressSequentially(' and second');
      sent.resolve();
      await queueIn(page).getByText('First', { exact: true }).waitFor();
      await until('the sent text is gone', async () => (await message(page).inputValue()) === ' and second');
      await fixture.api.post(`/sessions/${session}/interrupt`, { queue: 'hold' });
      await page.context().close();
    });

    it('steers with Ctrl+Enter, and pins a message until it is sent', async () => {
      const session = await begin(SLOW, 'Write.');
      const { page, consoleMessages } = await fixture.open(`/sessions/${session}`, { width: 390 });
      await page.getByText('The agent is writing.').waitFor();
      const pin = page.getByRole('button', { name: 'Pin: the agent always gets this message' });
      expect(await pin.getAttribute('aria-pressed')).toBe('false');
      await pin.click();
      await message(page).fill('A rule');
      await message(page).press('Control+Enter');
      const item = queueIn(page).getByRole('listitem').filter({ hasText: 'A rule' });
      await item.getByText('Before the next step').waitFor();
      await item.getByText('Pinned', { exact: true }).waitFor();
      await until('the pin is off', async () => (await pin.getAttribute('aria-pressed')) === 'false');
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Edit queued message 1' }).click();
      await until('the pin is on again', async () => (await pin.getAttribute('aria-pressed')) === 'true');
      await message(page).press('Enter');
      await item.getByText('Pinned', { exact: true }).waitFor();
      await fixture.api.post(`/sessions/${session}/interrupt`);
      const article = page.getByRole('article').filter({ hasText: 'A rule' });
      await article.getByText('Pinned', { exact: true }).waitFor();
      await fitsWindow(page);
      await fixture.api.post(`/sessions/${session}/interrupt`, { queue: 'hold' });
      expect(consoleMessages).toEqual([]);
      await page.context().close();
    });

    it('lets the user edit and remove queued messages', async () => {
      const session = await begin(SLOW, 'Write.');
      const { page } = await fixture.open(`/sessions/${session}`, { width: 390 });
      await page.getByText('The agent is writing.').waitFor();
      for (const text of ['To edit', 'To remove', 'To keep']) await enqueue(page, text);
      await message(page).fill('Typed before');
      await page.getByRole('button', { name: 'Edit queued message 1' }).click();
      await until('the text is in the composer', async () => {
        return (await message(page).inputValue()) === 'To edit\n\nTyped before';
      });
      await message(page).and(page.locator(':focus')).waitFor();
      await page.getByRole('button', { name: 'Remove queued message 1' }).click();
      await queueIn(page).getByText('1 message queued').waitFor();
      expect(await queueIn(page).getByRole('listitem').allTextContents()).toEqual(['To keep']);
      expect(await turnsOf(session)).toEqual(['in_progress', 'cancelled', 'cancelled', 'queued']);
      await fitsWindow(page);
      await page.getByRole('button', { name: 'Remove queued message 1' }).click();
      await queueIn(page).waitFor({ state: 'detached' });
      await message(page).and(page.locator(':focus')).waitFor();
      await fixture.api.post(`/sessions/${session}/interrupt`);
      await page.context().close();
    });

    it('reports a queue that cannot be loaded, and keeps the text of an edited message', async () => {
      const session = await begin(SLOW, 'Write.');
      const { page } = await fixture.open(`/sessions/${session}`);
      await page.getByText('The agent is writing.').waitFor();
      await enqueue(page, 'To edit');
      // The view changes before the session is up to date again.
      const hasChanged = Promise.withResolvers<void>();
      await page.route(`**/api/v1/sessions/${session}`, async (route) => {
        await hasChanged.promise;
        await route.continue();
      });
      const removed = page.waitForResponse((response) => response.request().method() === 'DELETE');
      await page.getByRole('button', { name: 'Edit queued message 1' }).click();
      await removed;
      await page.getByRole('tab', { name: 'Timeline' }).click();
      await page.getByRole('tab', { name: 'Chat' }).click();
      await until(
        'the text is in the composer',
        async () => (await message(page).inputValue()) === 'To edit',
      );
      hasChanged.resolve();
      await page.unrouteAll({ behavior: 'wait' });

      await message(page).fill('To show');
      await page.route('**/events?*user.message*', (route) => route.fulfill({ status: 500 }));
      await page.getByRole('button', { name: 'Queue', exact: true }).click();
      await queueIn(page).getByText('The queued messages could not be loaded.').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await queueIn(page).getByRole('button', { name: 'Try again' }).click();
      await queueIn(page).getByText('To show', { exact: true }).waitFor();
      await fixture.api.post(`/sessions/${session}/interrupt`);
      await page.context().close();
    });

    it('is in the menu of a row and stops selected sessions together', async () => {
      const titles = ['Runaway one', 'Runaway two', 'Runaway three'];
      for (const title of titles) await begin(SLOW, title);
      const { page } = await fixture.open('/sessions?q=Runaway');
      const row = (title: string) => page.getByRole('row').filter({ hasText: title });
      for (const title of titles) await row(title).getByText('Running', { exact: true }).waitFor();
      await row('Runaway one').getByRole('button', { name: 'Actions for Runaway one' }).click();
      await page.getByRole('menuitem', { name: 'Stop', exact: true }).click();
      await row('Runaway one').getByText('Stopped', { exact: true }).waitFor();
      await page.getByRole('checkbox', { name: 'Select all' }).check();
      await page.getByText('3 selected, 2 active').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Stop 2 sessions' }).click();
      await page
        .getByRole('dialog', { name: 'Stop 2 sessions?' })
        .getByRole('button', { name: 'Stop' })
        .click();
      await page.getByText('2 sessions were stopped.').waitFor();
      for (const title of titles) await row(title).getByText('Stopped', { exact: true }).waitFor();
      await page.context().close();
    });
  });

  it('filters the session list by the word of each badge', async () => {
    const calculation = { tool: 'calculator', input: { expression: '6 * 7' } };
    const schema = { type: 'object', properties: { color: { type: 'string' } } };
    const question = { tool: 'ask_user', input: { question: 'Which color?', schema } };
    const overloaded = { error: { kind: 'overloaded' }, times: 20, retry_after_seconds: 600 };
    const ask = { tools: [{ name: 'calculator', permission: 'ask' }] };
    const assistant = { ...SLOW, name: 'One at a time' };
    const { body } = await fixture.api.post('/assistants', assistant);
    const inAssistant = async (message: string) => {
      const path = `/assistants/${body.data.assistant_id}/conversations`;
      return String((await fixture.api.post(path, { message })).body.data.session_id);
    };
    const stopped = await begin(SLOW, 'State Stopped');
    await fixture.api.post(`/sessions/${stopped}/interrupt`);
    const running = await inAssistant('State Running');
    await reaches(running, 'running');
    const sessions: Record<string, { id: string; state: string | null }> = {
      'Needs input': { id: await begin(script(question), 'State Needs input'), state: 'needs_input' },
      'Needs approval': {
        id: await begin({ ...script(calculation), ...ask }, 'State Needs approval'),
        state: 'needs_approval',
      },
      Running: { id: running, state: 'running' },
      Retrying: { id: await begin(script(overloaded), 'State Retrying'), state: 'retrying' },
      Queued: { id: await inAssistant('State Queued'), state: 'queued' },
      Completed: { id: await begin({}, 'State Completed'), state: 'completed' },
      Failed: {
        id: await begin(script({ error: { kind: 'bad_request' } }), 'State Failed'),
        state: 'failed',
      },
      Stopped: { id: stopped, state: 'stopped' },
      'Limit reached': {
        id: await begin({ ...script(calculation, { text: 'Done' }), max_steps: 1 }, 'State Limit reached'),
        state: 'limit_reached',
      },
    };
    for (const { id, state } of Object.values(sessions)) await reaches(id, state);
    const fresh = await begin({});
    const { page } = await fixture.open('/sessions');
    await page.getByRole('row').filter({ hasText: fresh }).getByText('New', { exact: true }).waitFor();
    const filter = page.getByRole('combobox', { name: 'State' });
    await filter.click();
    await page.getByRole('option', { name: 'Archived' }).waitFor();
    expect(await page.getByRole('option').allTextContents()).toEqual([
      'Any state',
      ...Object.keys(sessions),
      'Archived',
    ]);
    await page.keyboard.press('Escape');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    const rows = page.locator('tbody tr');
    for (const [label, { id, state }] of Object.entries(sessions)) {
      await filter.click();
      await page.getByRole('option', { name: label, exact: true }).click();
      await page.waitForURL((url) => url.searchParams.get('state') === state);
      await rows.filter({ hasText: id }).getByText(label, { exact: true }).waitFor();
      const others = rows.filter({ hasNot: page.getByText(label, { exact: true }) });
      await until(`all sessions are ${label}`, async () => (await others.count()) === 0);
    }
    await fixture.api.post(`/sessions/${running}/interrupt`);
    await page.context().close();
  });

  it('requests an idle list three times a minute with its entity tag, and not while it is hidden', async () => {
    const session = await begin({}, 'Idle list');
    await reaches(session, 'completed');
    const { page } = await fixture.open('/tokens');
    await page.clock.install();
    const tags: (string | undefined)[] = [];
    let answered = 0;
    await page.route('**/api/v1/sessions?*', async (route) => {
      const tag = route.request().headers()['if-none-match'];
      tags.push(tag);
      if (tag) await route.fulfill({ status: 304, headers: { etag: tag } });
      else {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), etag: 'W/"list"' } });
      }
      answered++;
    });
    const roundTrip = () => page.evaluate(`fetch('/livez').then((response) => response.text())`);
    /** Advances the clock of the page. Returns the number of requests after the page has read their responses. */
    const advance = async (ms: number): Promise<number> => {
      const before = tags.length;
      await page.clock.runFor(ms);
      // The page receives this response after those to earlier requests.
      await roundTrip();
      await until('the requests are answered', () => answered === tags.length);
      await roundTrip();
      return tags.length - before;
    };
    await page.goto('/sessions?q=Idle+list');
    const row = page.getByRole('row').filter({ hasText: session });
    await row.waitFor();
    // From now on only the test advances the clock, so that slow steps do not end an interval.
    await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + IDLE_MS / 2);
    // Each request begins a new interval.
    await until('an interval begins', async () => (await advance(STEP_MS)) > 0);
    for (let polls = 0; polls < 3; polls++) {
      expect(await advance(0.75 * IDLE_MS), 'requests before the interval has ended').toBe(0);
      let sent = 0;
      for (let left = 0.25 * IDLE_MS; left > 0 && sent === 0; left -= STEP_MS) sent = await advance(STEP_MS);
      expect(sent, 'requests at the end of the interval').toBe(1);
    }
    const [first, ...later] = tags;
    expect(first).toBeUndefined();
    expect(new Set(later)).toEqual(new Set(['W/"list"']));
    await row.getByText('Completed', { exact: true }).waitFor();
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
      window.dispatchEvent(new Event('visibilitychange'));`);
    expect(await advance(3 * IDLE_MS), 'requests of a hidden page').toBe(0);
    await page.context().close();
  });
});
