import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillTurns } from '../../bench/fixtures/fill.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, startConsole } from './console-fixture.ts';
import { createWorkspaceHelpers, type WorkspaceHelpers } from './workspace-helpers.ts';

const EVENTS = 100_000;
/** Evaluated in the page. A string because the tests compile without DOM types. */
const TO_THE_MIDDLE = `(() => {
  const list = document.querySelector('[role=listbox]');
  list.scrollTop = list.scrollHeight / 2;
})()`;
/** After this time the layout of an opened conversation no longer moves. */
const SETTLED_MS = 300;
const GROWTH_PX = 3_000;
/** Makes the first item higher, shortly after an item has been marked, as content does that gets its height late. */
const GROW_ABOVE_MARKED = `{
  const observer = new MutationObserver(() => {
    const first = document.querySelector('[aria-current=true]') && document.querySelector('[data-seq]');
    if (!first) return;
    observer.disconnect();
    setTimeout(() => {
      first.style.paddingBottom = '${GROWTH_PX}px';
      first.dataset.grown = '';
    }, 100);
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true });
}`;
/** Maximum number of rendered rows. */
const DRAWN = 120;

let fixture: ConsoleFixture;
let session: string;
let workspaces: WorkspaceHelpers;
beforeAll(async () => {
  fixture = await startConsole();
  const { databaseUrl } = fixture.system;
  const { body } = await fixture.api.post(`/agents/${await fixture.api.createAgent()}/conversations`);
  session = String(body.data.session_id);
  const database = {
    run: (sql: string) => runOn(databaseUrl, sql),
    queryRow: async (sql: string) =>
      (await rowsOn<{ last_seq: number }>(databaseUrl, sql)).map((row) => Number(row.last_seq)),
  };
  await fillTurns(database, EVENTS);
  workspaces = await createWorkspaceHelpers(fixture);
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

describe('session page with 100,000 events', () => {
  it('opens at the end and loads earlier messages on request', async () => {
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`);
    const messages = page.getByRole('article', { name: 'Message from Agent' });
    await messages.last().waitFor();
    await page.getByText('Connection: Live').waitFor();
    const before = await messages.count();
    await page.getByRole('button', { name: 'Load earlier messages' }).press('Enter');
    await messages.nth(before).waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('navigates from the first to the last event and renders only visible rows', async () => {
    const { page } = await fixture.open(`/sessions/${session}?view=raw`);
    const list = page.getByRole('listbox', { name: 'Events' });
    await list.getByRole('option', { name: /^1 session\.created/ }).waitFor();
    await list.focus();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: new RegExp(`^${EVENTS} `) }).waitFor();
    expect(await list.getByRole('option').count()).toBeLessThan(DRAWN);
    await page.evaluate(TO_THE_MIDDLE);
    await list
      .getByRole('option', { name: /^50\d\d\d agent\.message_delta/ })
      .first()
      .waitFor();
    expect(await list.getByRole('option').count()).toBeLessThan(DRAWN);
    await page.context().close();
  });

  it('shows a linked event at any position', async () => {
    const { page } = await fixture.open(`/sessions/${session}?view=raw&event=50001`);
    const code = page.getByRole('region', { name: 'JSON of event 50001' });
    const shown = JSON.parse((await code.textContent()) ?? '');
    const { body } = await fixture.api.get(`/sessions/${session}/events?after_seq=50000&limit=1`);
    expect(body.data).toEqual([shown]);
    await page.getByRole('option', { name: /^50001 / }).waitFor();
    await page.context().close();
  });

  it('opens at any position of the conversation and continues to both sides', async () => {
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}?event=50006`);
    await expectInView(page);
    const items = page.locator('[data-seq]');
    const first = await seqOf(items.first());
    const last = await seqOf(items.last());
    expect(first).toBeLessThan(50_006);
    expect(last).toBeLessThan(51_000);
    await page.getByRole('button', { name: 'Load earlier messages' }).press('Enter');
    await until('earlier messages are shown', async () => (await seqOf(items.first())) < first);
    await page.getByRole('button', { name: 'Load later messages' }).press('Enter');
    await until('later messages are shown', async () => (await seqOf(items.last())) > last);
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await page.locator(`[data-seq="${EVENTS}"]`).waitFor();
    expect(new URL(page.url()).searchParams.has('event')).toBe(false);
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  // Each load takes seconds on a busy machine.
  it('shows and marks twenty linked events in the chat', async () => {
    const { page } = await fixture.open('/sessions');
    for (const seq of pseudoRandomSeqs(20)) {
      await page.goto(`/sessions/${session}?event=${seq}`);
      await expectInView(page);
      const shown = await seqOf(page.locator('[aria-current=true][data-seq]'));
      // Items of the filled turns: the message, the answer, the call and the end of the turn.
      expect(itemOf(seq), `item of event ${seq}`).toBe(shown);
    }
    await page.context().close();
  });

  it('keeps a linked event in view while the layout changes, until the user scrolls', async () => {
    const { page } = await fixture.open('/sessions');
    await page.addInitScript(GROW_ABOVE_MARKED);
    await page.goto(`/sessions/${session}?event=50006`);
    const item = page.locator('[aria-current=true][data-seq]');
    await page.locator('[data-grown]').waitFor({ state: 'attached' });
    await expectInView(page);
    // Both happen in one task, so the layout cannot settle between them.
    await page.evaluate(`document.querySelector('[aria-label=Conversation]').dispatchEvent(new WheelEvent('wheel'));
      document.querySelector('[data-grown]').style.paddingBottom = '${2 * GROWTH_PX}px';`);
    await page.waitForTimeout(SETTLED_MS);
    expect(await isInView(page, item)).toBe(false);
    await page.context().close();
  });

  it('states above the message field that a linked event does not exist', async () => {
    const { page } = await fixture.open(`/sessions/${session}?event=${EVENTS + 1}`);
    await page
      .getByRole('alert')
      .getByText(`Event ${EVENTS + 1} does not exist in this session.`)
      .waitFor();
    await page.locator(`[data-seq="${EVENTS}"]`).waitFor();
    expect(await page.locator('[aria-current=true][data-seq]').count()).toBe(0);
    await page.context().close();
  });
});

describe('session page with many uploads, calls and retries', () => {
  const ended = (session: string) =>
    until('the turn has ended', async () => {
      const { data } = (await fixture.api.get(`/sessions/${session}`)).body;
      return data.status === 'idle' && data.stop_reason !== null;
    });
  async function begin(agent: object, message: string): Promise<string> {
    const id = await fixture.api.createAgent(agent);
    const { body } = await fixture.api.post(`/agents/${id}/conversations`, { message });
    return String(body.data.session_id);
  }

  it('keeps the last message in view behind 300 uploaded files', async () => {
    const session = await workspaces.begin();
    await fixture.api.post(`/sessions/${session}/messages`, { content: 'echo last message' });
    await ended(session);
    const names = Array.from({ length: 300 }, (_, index) => `file-${index}.txt`);
    await workspaces.put(session, Object.fromEntries(names.map((name) => [name, 'x'])));
    await until('the upload is in the journal', async () => {
      const { body } = await fixture.api.get(`/sessions/${session}/events?types=files.uploaded`);
      return body.data.length === 1;
    });
    const { page } = await fixture.open(`/sessions/${session}`);
    await page.getByText('Uploaded 300 files, 300 B').waitFor();
    await page.getByText('and 292 more').waitFor();
    await untilInView(page, page.getByRole('article', { name: 'Message from User' }).last());

    // A journal from before uploads had an event of their own.
    await appendOldUpload(fixture.system.databaseUrl, session, 300);
    await page.reload();
    await page.getByText('Uploaded 600 files, 600 B').waitFor();
    await untilInView(page, page.getByRole('article', { name: 'Message from User' }).last());
    await page.context().close();
  });

  it('loads all events of a turn before its timeline appears', async () => {
    const calls = 50;
    const steps = Array.from({ length: calls }, (_, index) => [
      { text: `Step ${index}` },
      { tool: 'calculator', input: { expression: `${index} + 1` } },
    ]);
    const session = await begin(
      {
        name: 'Many calls',
        model: 'rehearsal/script',
        max_steps: 100,
        tools: [{ name: 'calculator', permission: 'allow' }],
        model_options: { steps: [...steps.flat(), { text: 'Done.' }] },
      },
      'Count.',
    );
    await ended(session);
    const [turn] = (await fixture.api.get(`/sessions/${session}/turns`)).body.data as {
      started_at: string;
      finished_at: string;
    }[];
    const { page } = await fixture.open('/sessions');
    const held = Promise.withResolvers<void>();
    await page.route(/\/events\?.*cursor=/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`/sessions/${session}?view=timeline`);
    await page.getByText(/^Loading \d+ of [3-9]\d\d events$/).waitFor();
    const callRows = page.getByRole('link', { name: /^calculator/ });
    expect(await callRows.count()).toBe(0);
    held.resolve();
    await page.getByRole('link', { name: /^Step 51/ }).waitFor();
    expect(await callRows.count()).toBe(calls);
    const heading = (await page.getByRole('heading', { name: /^Turn 1 Completed/ }).textContent()) ?? '';
    const duration = Date.parse(turn?.finished_at ?? '') - Date.parse(turn?.started_at ?? '');
    expect(Math.abs(milliseconds(heading) - duration)).toBeLessThanOrEqual(5);
    const ticks = page.locator('[data-tick]');
    await ticks.nth(1).waitFor({ state: 'attached' });
    const before = await ticks.count();
    // Intervals of ticks grow by factors of up to 2.5, so that one doubling can leave the ticks as they are.
    const zoomIn = page.getByRole('button', { name: 'Zoom in' });
    await zoomIn.press('Enter');
    await zoomIn.press('Enter');
    await until('the axis has more ticks', async () => (await ticks.count()) > before);
    expect(await axeViolations(page)).toEqual([]);
    await page.context().close();
  });

  it('shows retries in one line and the estimated tokens of an interrupted turn', async () => {
    const session = await begin(
      {
        name: 'Overloaded',
        model: 'rehearsal/script',
        model_options: {
          steps: [
            { error: { kind: 'overloaded' }, times: 2, retry_after_seconds: 1 },
            { text: 'word '.repeat(10_000), chunk_chars: 5, delay_ms: 40 },
          ],
        },
      },
      'Try.',
    );
    const { page } = await fixture.open(`/sessions/${session}`);
    const conversation = page.getByRole('region', { name: 'Conversation' });
    // The service waits for a second before each retry, and longer when it is busy.
    const retried = String.raw`^Model overloaded: retried 2 times, ([2-9]|\d\d)(\.\d)? s`;
    await conversation.getByText(new RegExp(`${retried}$`)).waitFor();
    await page.getByText('word word').first().waitFor();
    await fixture.api.post(`/sessions/${session}/interrupt`);
    await conversation.getByText(/^Turn interrupted · .* · about [\d,]+ tokens in, [\d,]+ out · /).waitFor();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByRole('link', { name: new RegExp(retried) }).waitFor();
    await page.getByText(/^active .* · about [\d,]+ tokens in, [\d,]+ out · /).waitFor();
    await page.context().close();
  });
});

const untilInView = (page: Page, item: Locator) => until(`${item} is in view`, () => isInView(page, item));

/** Waits until the marked item is in view, and expects that it stays there. */
async function expectInView(page: Page): Promise<void> {
  const item = page.locator('[aria-current=true][data-seq]');
  await item.waitFor();
  await untilInView(page, item);
  await page.waitForTimeout(SETTLED_MS);
  expect(await isInView(page, item), `marked item of ${page.url()}`).toBe(true);
}

async function isInView(page: Page, item: Locator): Promise<boolean> {
  const outer = await page.getByRole('region', { name: 'Conversation' }).boundingBox();
  const inner = await item.boundingBox();
  if (!outer || !inner) return false;
  return inner.y + inner.height > outer.y && inner.y < outer.y + outer.height;
}

const seqOf = async (item: Locator) => Number(await item.getAttribute('data-seq'));

/** The same seqs in every run. */
function pseudoRandomSeqs(count: number): number[] {
  let state = 1;
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return 100 + (state % (EVENTS - 100));
  });
}

/** Seq of the item that shows an event of the filled turns. */
function itemOf(seq: number): number {
  const turn = seq - (seq % 100);
  const position = (seq % 100) + 1;
  if (position <= 5) return turn;
  if (position <= 91) return turn + 90;
  if (position <= 97) return turn + 91;
  return turn + 97;
}

/** Returns the milliseconds of a text such as "2 min 3.045 s". */
function milliseconds(text: string): number {
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  return number(/([\d.]+) min/) * 60_000 + number(/([\d.]+) s\b/) * 1_000 + number(/(\d+) ms/);
}

/** Appends an event per file, as uploads did before they had an event of their own. */
async function appendOldUpload(databaseUrl: string, session: string, count: number): Promise<void> {
  const event = `'{"event_id":"evt_' || lpad(i::text, 26, '0') || '","session_id":"${session}","seq":' || last_seq + i
    || ',"type":"file.created","created_at":"2026-01-01T12:00:00.000Z","actor":{"type":"user","id":"usr_1"},'
    || '"data":{"path":"old-' || i || '","size":1,"sha256":"","workspace_version":99}}'`;
  await runOn(
    databaseUrl,
    `insert into sessions.journal (session_id, first_seq, last_seq, types, bytes, events)
     select session_id, last_seq + i, last_seq + i, '{file.created}', octet_length(event), event
     from sessions.heads, generate_series(1, ${count}) i, lateral (select '[' || ${event} || ']' as event) e
     where session_id = '${session}'`,
  );
  await runOn(
    databaseUrl,
    `update sessions.heads set last_seq = last_seq + ${count} where session_id = '${session}'`,
  );
}
