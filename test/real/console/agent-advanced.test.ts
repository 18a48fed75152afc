import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, fitsWindow, startConsole, tabTo } from './console-fixture.ts';

const OUTPUT_SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };
const PHONE = { width: 360, height: 740 };

describe('advanced settings of an agent', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const row = (page: Page, number: number) =>
    page.getByRole('group', { name: `Client tool ${number}`, exact: true });
  const settingsOf = async (id: string) => (await fixture.api.get(`/agents/${id}`)).body.data;

  it('are set with the keyboard on a phone, and errors of the service are shown at their fields', async () => {
    const { page } = await fixture.open('/agents/new', PHONE);
    const keys = page.keyboard;
    await page.getByLabel('Name', { exact: true }).fill('Extractor');
    await page.getByLabel('Model', { exact: true }).fill('rehearsal/echo');
    await keys.press('Tab');
    await tabTo(page, page.getByRole('button', { name: 'Show advanced settings' }));
    await keys.press('Enter');
    for (const name of ['open_ticket', 'bash']) {
      await tabTo(page, page.getByRole('button', { name: 'Add client tool' }));
      await keys.press('Enter');
      await page.getByLabel('Tool name').last().and(page.locator(':focus')).waitFor();
      await keys.type(name);
      await keys.press('Tab');
      await keys.type(`Runs ${name}.`);
    }
    await tabTo(page, page.getByLabel('Output schema', { exact: false }).and(page.locator('textarea')));
    await keys.type('{"type": 1');
    await keys.press('Tab');
    await page.getByRole('alert').filter({ hasText: 'Output schema: Invalid JSON' }).waitFor();
    await keys.press('Shift+Tab');
    await keys.press('End');
    await keys.type('}');
    await tabTo(page, page.getByRole('checkbox', { name: 'Output schema' }));
    await keys.press('Space');
    await tabTo(page, page.getByRole('button', { name: 'Create agent' }));
    await keys.press('Enter');

    const nameError = (number: number) =>
      row(page, number).getByRole('alert').filter({ hasText: 'Must not be the name of a built-in tool.' });
    await nameError(2).waitFor();
    await row(page, 2).getByLabel('Tool name').and(page.locator(':focus')).waitFor();
    await page.getByRole('alert').filter({ hasText: 'Output schema: Type must' }).waitFor();
    expect(await page.getByRole('alert').filter({ hasText: 'built-in tool' }).count()).toBe(1);
    await fitsWindow(page);
    expect(await axeViolations(page)).toEqual([]);

    // The error stays with its tool when another one is removed.
    await tabTo(page, page.getByRole('button', { name: 'Remove open_ticket' }));
    await keys.press('Enter');
    await page.getByRole('button', { name: 'Add client tool' }).and(page.locator(':focus')).waitFor();
    await nameError(1).waitFor();
    await row(page, 1).getByLabel('Tool name').fill('close_ticket');
    await page.getByRole('textbox', { name: 'Output schema' }).fill(JSON.stringify(OUTPUT_SCHEMA));
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'Extractor' }).waitFor();
    const id = new URL(page.url()).pathname.split('/')[2] ?? '';
    expect(await settingsOf(id)).toMatchObject({
      tools: [
        {
          type: 'client',
          name: 'close_ticket',
          description: 'Runs bash.',
          input_schema: { type: 'object', properties: {} },
        },
      ],
      output_schema: OUTPUT_SCHEMA,
      overridable: ['output_schema'],
    });
    await page.context().close();
  });

  it('are shown when one is set, and can be cleared', async () => {
    const id = await fixture.api.createAgent({
      tools: [
        { name: 'bash', permission: 'ask' },
        { type: 'client', name: 'lookup', description: 'Looks up.', input_schema: { type: 'object' } },
      ],
      output_schema: OUTPUT_SCHEMA,
      overridable: ['model', 'budget'],
    });
    const { page, consoleMessages } = await fixture.open(`/agents/${id}`);
    await page.getByRole('button', { name: 'Remove lookup' }).click();
    await page.getByRole('textbox', { name: 'Output schema' }).fill('');
    await page.getByRole('checkbox', { name: 'Model', exact: true }).uncheck();
    await page.getByRole('checkbox', { name: 'Steps' }).check();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Version 2').waitFor();
    expect(await settingsOf(id)).toMatchObject({
      tools: [{ name: 'bash', permission: 'ask' }],
      output_schema: null,
      overridable: ['budget', 'max_steps'],
    });
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('set how long conversations are shortened, with errors at their fields and defaults omitted', async () => {
    const { page, consoleMessages } = await fixture.open('/agents/new');
    const bodies: Record<string, unknown>[] = [];
    page.on('request', (request) => {
      if (/\/agents(\/|$)/.test(request.url()) && request.method() !== 'GET')
        bodies.push(request.postDataJSON() as Record<string, unknown>);
    });
    const field = (name: string) => page.getByRole('textbox', { name, exact: false });
    const error = (text: string) => page.getByRole('alert').filter({ hasText: text });
    await page.getByLabel('Name', { exact: true }).fill('Archivist');
    await page.getByLabel('Model', { exact: true }).fill('rehearsal/shell');
    await page.getByRole('button', { name: 'Show advanced settings' }).click();
    await field('Threshold').fill('0.99');
    await page.getByRole('combobox', { name: 'Model of summaries' }).fill('unknown/large');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await error('Threshold: Enter a number from 0.1 to 0.95').waitFor();
    await field('Threshold').and(page.locator(':focus')).fill('0.7');
    await page.getByRole('button', { name: 'Create agent' }).click();
    await error('Model of summaries: Must name a configured provider').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Model of summaries' }).fill('');
    await page.getByRole('radio', { name: 'Do not shorten' }).click();
    await page.getByRole('combobox', { name: 'Model of summaries' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'Archivist' }).waitFor();
    const id = new URL(page.url()).pathname.split('/')[2] ?? '';
    expect(await settingsOf(id)).toMatchObject({ context: { strategy: 'none', threshold: 0.7 } });

    await page.getByLabel('Description').fill('Keeps.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('the description is saved', async () => (await settingsOf(id)).description === 'Keeps.');
    expect(bodies.at(-1)).toEqual({ description: 'Keeps.' });
    await page.getByRole('radio', { name: 'Summarize (default)' }).click();
    await field('Threshold').fill('');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Version 2').waitFor();
    expect((await settingsOf(id)).context).toEqual({});
    await page.goto(`/agents/${id}?tab=versions`);
    await page.getByText('Strategy: none').waitFor();
    expect(consoleMessages.filter((text) => !text.includes('400'))).toEqual([]);
    await page.context().close();
  });

  it('shorten a conversation, which the conversation and the timeline show', async () => {
    const agent = await fixture.api.createAgent({
      model: 'rehearsal/shell',
      tools: [{ name: 'bash', permission: 'allow' }],
      context: { window: 4_000, keep_turns: 1 },
    });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, { message: '$ seq 1 4000' });
    const session = `/sessions/${body.data.session_id}`;
    const completed = (count: number) =>
      until(`${count} turns are completed`, async () => {
        const turns = (await fixture.api.get(`${session}/turns`)).body.data as { status: string }[];
        return turns.filter(({ status }) => status === 'completed').length === count;
      });
    await completed(1);
    const { page, consoleMessages } = await fixture.open(session, PHONE);
    const divider = (text: string) => page.getByRole('button', { name: new RegExp(`^${text}.*from about`) });
    const details = page.getByRole('region', { name: 'Moved outputs' });
    await divider('Large outputs of tools were moved to files').press('Enter');
    await page.getByText('The session keeps all messages and outputs.').waitFor();
    await details.getByText('The model still gets the first').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await divider('Large outputs of tools were moved to files').press('Enter');
    await details.waitFor({ state: 'detached' });

    await fixture.api.post(`${session}/messages`, { content: '$ seq 1 3000' });
    await completed(2);
    await divider('Earlier messages were replaced by a summary').last().press('Enter');
    await page.getByRole('region', { name: 'Summary' }).getByText('nothing to run').waitFor();
    await details.getByRole('link', { name: /^Event \d+$/ }).waitFor();
    await fitsWindow(page);
    expect(await axeViolations(page)).toEqual([]);
    await details.getByRole('link', { name: /^\.outputs/ }).press('Enter');
    await page.getByRole('tab', { name: 'Files', selected: true }).waitFor();

    await page.goto(`${session}?view=timeline`);
    const mark = page.getByRole('link', { name: /^Earlier messages were replaced by a summary.*tokens/ });
    await mark.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await mark.press('Enter');
    await page.getByRole('heading', { name: /agent\.context_compacted$/ }).waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('are used when a user compacts a conversation now, beside a meter of its context', async () => {
    const agent = await fixture.api.createAgent({
      ...{ model: 'rehearsal/echo', context: { window: 20_000, keep_turns: 1 } },
    });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, {});
    const session = `/sessions/${body.data.session_id}`;
    const send = (content: string) => fixture.api.post(`${session}/messages`, { content, wait_seconds: 50 });
    await send('one '.repeat(400));
    const { page, consoleMessages } = await fixture.open(session, PHONE);
    const meter = page.getByRole('button', { name: /^Context \d+%$/ });
    await meter.press('Enter');
    const details = page.getByRole('dialog', { name: 'Context' });
    await details.getByRole('meter', { name: 'Used part of the context window' }).waitFor();
    await details.getByText(/^About [\d,]+ of 20,000 tokens\./).waitFor();
    await fitsWindow(page);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await meter.and(page.locator(':focus')).waitFor();

    const compact = async () => {
      // By keyboard, because a notification covers the button on a phone.
      await page.getByRole('button', { name: 'Session actions' }).press('Enter');
      await page.getByRole('menuitem', { name: 'Compact now' }).press('Enter');
    };
    await compact();
    await page.getByText('There is nothing to compact.', { exact: false }).first().waitFor();
    await send('two');
    await compact();
    await page.getByRole('button', { name: /^Earlier messages were replaced by a summary/ }).waitFor();
    await page.getByRole('button', { name: /^Compaction completed/ }).waitFor();
    await meter.press('Enter');
    await details.getByRole('link', { name: 'Last shortened' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByRole('button', { name: /^Turn 3.*Compaction/ }).waitFor();

    await page.route('**/compact', (route) =>
      route.fulfill({ status: 503, json: { code: 'DEPENDENCY_UNAVAILABLE', message: 'Later.', error: {} } }),
    );
    await compact();
    await page.getByText('The conversation could not be shortened.').first().waitFor();
    expect(consoleMessages.filter((text) => !text.includes('503'))).toEqual([]);
    await page.context().close();
  });

  it('cannot be used while a turn runs, which the menu says', async () => {
    const agent = await fixture.api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'word '.repeat(5_000), chunk_chars: 5, delay_ms: 50 }] },
    });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, { message: 'Write.' });
    const session = `/sessions/${body.data.session_id}`;
    const { page } = await fixture.open(session);
    await page.getByText('The agent is writing.').waitFor();
    await page.getByRole('button', { name: 'Session actions' }).click();
    const item = page.getByRole('menuitem', { name: 'Compact now Not while a turn runs or waits' });
    await item.waitFor();
    expect(await item.getAttribute('aria-disabled')).toBe('true');
    expect(await axeViolations(page)).toEqual([]);
    await fixture.api.post(`${session}/interrupt`);
    await page.context().close();
  });
});
