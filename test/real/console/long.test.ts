import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillTalk } from '../../bench/fill.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import { openStage, type Stage } from './stage.ts';

const EVENTS = 100_000;
/** Run in pages; the compiler knows no browser. */
const TO_THE_MIDDLE = `(() => {
  const list = document.querySelector('[role=listbox]');
  list.scrollTop = list.scrollHeight / 2;
})()`;
/** More rows than fit on any screen are not drawn. */
const DRAWN = 120;

describe('a session of a hundred thousand events', () => {
  let stage: Stage;
  let session: string;
  beforeAll(async () => {
    stage = await openStage();
    const { databaseUrl } = stage.system;
    const { body } = await stage.api.post(`/agents/${await stage.api.createAgent()}/conversations`);
    session = String(body.data.session_id);
    const database = {
      run: (sql: string) => runOn(databaseUrl, sql),
      ask: async (sql: string) =>
        (await rowsOn<{ last_seq: number }>(databaseUrl, sql)).map((row) => Number(row.last_seq)),
    };
    await fillTalk(database, EVENTS);
  }, 60_000);
  afterAll(() => stage?.[Symbol.asyncDispose]());

  it('opens at its end, and reads backwards as far as somebody wants', async () => {
    const { page, complaints } = await stage.open(`/sessions/${session}`);
    const said = page.getByRole('article', { name: 'Agent says' });
    await said.last().waitFor();
    await page.getByText('Connection: Live').waitFor();
    const before = await said.count();
    await page.getByRole('button', { name: 'Show what came before' }).press('Enter');
    await said.nth(before).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('is gone through from the first event to the last, and only what is in sight is drawn', async () => {
    const { page } = await stage.open(`/sessions/${session}?view=raw`);
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

  it('shows the event that a link leads to, wherever it is', async () => {
    const { page } = await stage.open(`/sessions/${session}?view=raw&event=50001`);
    const code = page.getByRole('region', { name: 'JSON of event 50001' });
    const shown = JSON.parse((await code.textContent()) ?? '');
    const { body } = await stage.api.get(`/sessions/${session}/events?after_seq=50000&limit=1`);
    expect(body.data).toEqual([shown]);
    await page.getByRole('option', { name: /^50001 / }).waitFor();
    await page.goto(`/sessions/${session}?event=50`);
    await page.getByRole('button', { name: 'Show it among all events' }).click();
    await page.getByRole('heading', { name: /^50 / }).waitFor();
    await page.context().close();
  });
});
