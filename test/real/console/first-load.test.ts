import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleFixture, startConsole } from './console-fixture.ts';

const MAX_KIB = 250;
/** Compressed bytes of the document and of all resources, responses of the API included. */
const LOADED_BYTES = `['navigation', 'resource']
  .flatMap((type) => performance.getEntriesByType(type))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;

const PALETTE_LOADED = `performance.getEntriesByType('resource').some(({ name }) => name.includes('/palette-'))`;
const SETTLE_MS = 1_000;

describe('first load', () => {
  let fixture: ConsoleFixture;
  let session: string;
  let agent: string;
  beforeAll(async () => {
    fixture = await startConsole();
    agent = await fixture.api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: '# Report\n\nIt is **finished**.' }] },
    });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, { message: 'Hello' });
    session = String(body.data.session_id);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  it.each([
    ['/', 'Home'],
    ['/sessions', 'Sessions'],
    ['/sessions/SESSION', 'Hello'],
    ['/sessions/SESSION?view=timeline', 'Hello'],
    ['/sessions/SESSION?view=raw', 'Hello'],
    ['/sessions/SESSION?view=files', 'Hello'],
    ['/agents/new', 'New agent'],
    ['/agents/AGENT', 'Echo'],
    ['/deployments', 'Deployments'],
    ['/administration', 'Administration'],
  ])(`of %s is at most ${MAX_KIB} KiB`, async (path, title) => {
    const { page } = await fixture.open(path.replace('SESSION', session).replace('AGENT', agent));
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    // The event stream of a session stays open, so the network never becomes idle.
    await page.waitForTimeout(SETTLE_MS);
    expect((await page.evaluate<number>(LOADED_BYTES)) / 1_024).toBeLessThanOrEqual(MAX_KIB);
    await page.context().close();
  });

  it('is without the global search, which loads when it is opened', async () => {
    const { page } = await fixture.open('/');
    await page.getByRole('heading', { name: 'Recent sessions' }).waitFor();
    const isLoaded = () => page.evaluate<boolean>(PALETTE_LOADED);
    expect(await isLoaded()).toBe(false);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search everything' }).and(page.locator(':focus')).waitFor();
    expect(await isLoaded()).toBe(true);
    await page.keyboard.type('Hello');
    await page.getByRole('option', { name: /Hello/ }).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Search/ }).click();
    await page.getByRole('combobox', { name: 'Search everything' }).and(page.locator(':focus')).waitFor();
    await page.context().close();
  });
});
