import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { goRound } from './round.ts';
import { openStage, type Scene, type Stage, seriousFindings } from './stage.ts';
import { openWorkspaces } from './workspaces.ts';

const LONG = `Support مساعد الدعم 🤖 ${'and on '.repeat(8)}${'unbroken'.repeat(8)}`;
/** As long as names of environments may be. */
const SLUG = 'unbroken'.repeat(7);
const NOBODY = 'ses_00000000000000000000000000';
/** Windows at the same time: as many as there are processors for. */
const AT_ONCE = 3;

/** Where, under which title, and what is there once everything is. */
const PAGES: [path: string, title: string, sight: string][] = [
  ['/', 'Home', 'This system'],
  ['/sessions', 'Sessions', LONG],
  ['/sessions/:asking', LONG, 'Waiting for a decision'],
  ['/sessions/:asking?view=timeline', LONG, 'Waiting for your decision'],
  ['/sessions/:asking?view=raw&event=2', LONG, 'session.created'],
  ['/sessions/:asking?view=files', LONG, 'There are no files yet'],
  ['/sessions/:files?view=files&path=notes.md', LONG, 'Remember'],
  ['/triggers', 'Triggers', LONG],
  ['/triggers/new', 'New trigger', 'Prompt prefix'],
  ['/triggers/:agent/:trigger', LONG, 'Waiting for your first request'],
  ['/triggers/:agent/:trigger?replaces=:old', LONG, 'Replacement'],
  ['/agents', 'Agents', LONG],
  ['/agents/new', 'New agent', 'Metadata'],
  ['/agents/:agent', LONG, 'Metadata'],
  ['/agents/:agent?tab=versions', LONG, 'From'],
  ['/agents/:agent?tab=access', LONG, 'Listed'],
  ['/agents/:agent?tab=sessions', LONG, 'There is none yet'],
  ['/agents/:agent?tab=triggers', LONG, 'New trigger'],
  ['/assistants', 'Assistants', LONG],
  ['/assistants/new', 'New assistant', 'Metadata'],
  ['/assistants/:assistant', LONG, 'Metadata'],
  ['/assistants/:assistant?tab=files', LONG, 'There are no files yet'],
  ['/environments', 'Environments', 'default'],
  ['/environments/new', 'New environment', 'Variables'],
  ['/environments/:environment', SLUG, 'Variables'],
  ['/environments/:environment?tab=versions', SLUG, 'Version 1'],
  ['/administration', 'Administration', 'simulated'],
  ['/administration?tab=audit', 'Administration', 'Read the audit log'],
  ['/administration?tab=configuration&q=SERVICE_P', 'Administration', 'SERVICE_PORT'],
  ['/tokens', 'Tokens', 'asks for no token'],
  [`/sessions/${NOBODY}`, 'Not found', 'Nothing is here'],
  ['/nowhere', 'Not found', 'Nothing is here'],
];

/** What opens in front of which page: behind a button, or behind what is chosen in the menu that it opens. */
const OPENED: [path: string, ...opened: [button: string | RegExp, item?: string][]][] = [
  ['/', ['Search Ctrl K'], ['Local mode'], ['Local mode', 'Keys']],
  ['/sessions', ['State']],
  [
    '/sessions/:files',
    ['More about this session'],
    ['More about this session', 'Rename'],
    ['More about this session', 'Archive'],
    ['More about this session', 'Delete'],
    [/^More about event/],
  ],
  ['/sessions/:files?view=raw', ['Types']],
  ['/sessions/:files?view=files&path=notes.md', ['Upload'], ['New folder'], ['Rename or move'], ['Delete']],
  ['/triggers', ['Status'], [/^Actions for/], [/^Actions for/, 'Disable'], [/^Actions for/, 'Delete']],
  ['/triggers/new', ['Agent']],
  ['/triggers/:agent/:trigger', ['Disable'], ['Delete']],
  ['/agents/:agent', ['Start a conversation'], ['Delete']],
  ['/assistants/:assistant', ['Start a conversation'], ['Delete']],
  ['/environments/:environment', ['Disable'], ['Delete']],
  ['/administration', ['Which sandboxes'], [/^Details of/], [/^Terminate/]],
  ['/administration?tab=audit', ['Act'], [/^Details of line/]],
];
const IN_FRONT = '[data-base-ui-portal] :is([role=dialog], [role=menu], [role=listbox]):visible';

/** Whatever they ask for fails, but what is answered all the same. */
const FAILING: [path: string, answered?: RegExp][] = [
  ['/'],
  ['/sessions'],
  ['/sessions/:asking'],
  ['/sessions/:files?view=files', /\/sessions\/[^/]+(\/events.*)?$/],
  ['/triggers'],
  ['/triggers/:agent/:trigger'],
  ['/environments'],
  ['/agents'],
  ['/agents/:agent'],
  ['/agents/:agent?tab=versions', /\/agents\/[^/]+$/],
  ['/agents/:agent?tab=sessions', /\/agents\/[^/]+$/],
  ['/agents/:agent?tab=triggers', /\/agents\/[^/]+$/],
  ['/assistants'],
  ['/assistants/:assistant'],
  ['/assistants/:assistant?tab=files', /\/assistants\/[^/]+$/],
  ['/environments/:environment'],
  ['/environments/:environment?tab=versions', /\/environments\/[^/]+$/],
  ['/administration'],
  ['/administration?tab=audit'],
  ['/administration?tab=configuration'],
];

describe('every page of the console, without a serious finding of axe in either theme', () => {
  let stage: Stage;
  let scenes: Scene[];
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    stage = await openStage();
    await furnish();
    scenes = await Promise.all(Array.from({ length: AT_ONCE }, () => stage.open('/tokens')));
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const at = (path: string) => path.replace(/:([a-z]+)/g, (_, name: string) => ids[name] ?? name);

  /** One of each, under names that take room. */
  async function furnish(): Promise<void> {
    const { api } = stage;
    const made = async (path: string, body: object, id: string) =>
      String((await api.post(path, body)).body.data[id]);
    ids.agent = await api.createAgent({ name: LONG });
    await api.send('PATCH', `/agents/${ids.agent}`, { system: 'Two\nlines' });
    ids.old = (await api.createWebhook(ids.agent)).id;
    ids.trigger = (await api.createWebhook(ids.agent)).id;
    ids.assistant = await made('/assistants', { name: LONG, model: 'rehearsal/echo' }, 'assistant_id');
    const environment = { name: SLUG, sandbox: { provider: 'simulated' } };
    ids.environment = await made('/admin/environments', environment, 'environment_id');
    const careful = await api.createAgent({ ...CAREFUL });
    const message = 'Six times seven?';
    ids.asking = await made(`/agents/${careful}/conversations`, { message }, 'session_id');
    const workspaces = await openWorkspaces(stage);
    ids.files = await workspaces.begin();
    await workspaces.put(ids.files, { 'notes.md': 'Remember' });
    await api.post(`/sessions/${ids.files}/messages`, { content: '$ echo here' });
    for (const id of [ids.asking, ids.files]) await api.send('PATCH', `/sessions/${id}`, { title: LONG });
  }

  it('is no wider than a phone, and has one title', async () => {
    const sights = PAGES.map(([path, title, sight]) => ({ name: path, title, sight }));
    expect(
      await goRound(scenes, sights, async ({ page, complaints }, { name, title, sight }) => {
        await page.setViewportSize({ width: 1280, height: 900 });
        await goWithin(page, at(name));
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
        await page.getByRole('main').getByText(sight).first().waitFor();
        const found = await seriousFindings(page);
        if ((await page.locator('h1').count()) !== 1) found.push('it has more than one title');
        await page.setViewportSize({ width: 360, height: 800 });
        await until('nothing is wider than 360 px', async () => (await overhangOf(page)) <= 0);
        forget(complaints, '404');
        return found;
      }),
    ).toEqual([]);
  });

  it('opens nothing in front of it that is otherwise, and has the focus again afterwards', async () => {
    const sights = OPENED.map(([name, ...opened]) => ({ name, opened }));
    expect(
      await goRound(scenes, sights, async ({ page }, { name, opened }) => {
        const found: string[] = [];
        await page.setViewportSize({ width: 1280, height: 900 });
        await page.goto(at(name));
        for (const [button, item] of opened) {
          const opener = openerOf(page, button);
          await opener.click();
          if (item) await page.getByRole('menuitem', { name: item, exact: true }).click();
          await page.locator(IN_FRONT).first().waitFor();
          if (item) await page.locator('[role=dialog]').waitFor();
          for (const line of await seriousFindings(page)) found.push(`${button} ${item ?? ''}: ${line}`);
          await page.keyboard.press('Escape');
          await until('it is closed', async () => (await page.locator(IN_FRONT).count()) === 0);
          await until(`${button} has the focus`, () => hasFocus(page));
        }
        return found;
      }),
    ).toEqual([]);
  });

  it('says what was refused and how to go on, and goes on', async () => {
    const sights = FAILING.map(([name, answered]) => ({ name, answered }));
    expect(
      await goRound(scenes, sights, async ({ page, complaints }, { name, answered }) => {
        const found: string[] = [];
        for (const status of [500, 403]) {
          await page.unrouteAll();
          await page.route(/\/api\/v1\/(?!auth\/)/, (route) => {
            const { pathname } = new URL(route.request().url());
            return answered?.test(pathname) ? route.continue() : route.fulfill(refusalOf(status));
          });
          if (status === 500) await page.goto(at(name));
          else await page.getByRole('button', { name: 'Try again' }).first().click();
          const alert = page
            .getByRole('alert')
            .filter({ hasText: `Refused with ${status}.` })
            .first();
          await alert.getByText('req_00000000000000000000000000').waitFor();
          await page.getByRole('region', { name: 'The same with curl' }).first().waitFor();
          await page.getByRole('heading', { level: 1 }).waitFor();
          // Only the words are others.
          if (status === 500) found.push(...(await seriousFindings(page)));
        }
        await page.unrouteAll();
        await goOn(page);
        forget(complaints, '500', '403');
        return found;
      }),
    ).toEqual([]);
  });
});

const CAREFUL = {
  name: 'Careful',
  model: 'rehearsal/script',
  tools: [{ name: 'calculator', permission: 'ask' }],
  model_options: { steps: [{ tool: 'calculator', input: { expression: '6 * 7' } }, { text: 'That is it.' }] },
};

/** Tries everything again that has failed, until nothing is left: what comes back may hold something else that has. */
async function goOn(page: Page): Promise<void> {
  const again = page.getByRole('button', { name: /^Try(?:ing)? again$/ });
  for (let left = await again.count(); left > 0; left = await again.count()) {
    await again.evaluateAll((buttons: { click(): void }[]) => {
      for (const button of buttons) button.click();
    });
    await until('something has come back', async () => (await again.count()) < left);
  }
}

/** Of what is refused, browsers complain themselves. */
function forget(complaints: string[], ...statuses: string[]): void {
  const others = complaints.filter(
    (line) => !statuses.some((status) => line.includes(`status of ${status}`)),
  );
  complaints.splice(0, complaints.length, ...others);
}

function refusalOf(status: number) {
  const error = { code: 'X', status_code: status, user_message: `Refused with ${status}.`, retryable: false };
  const request_id = 'req_00000000000000000000000000';
  return { status, json: { code: 'X', message: 'x', data: null, error: { ...error, request_id } } };
}

/** Goes to a page as its links do. Run in pages; the compiler knows no browser. */
const goWithin = (page: Page, path: string) =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
const overhangOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
const hasFocus = (page: Page) => page.evaluate<boolean>('document.activeElement !== document.body');

/** A button, or a field to choose from. */
function openerOf(page: Page, name: string | RegExp) {
  const options = typeof name === 'string' ? { name, exact: true } : { name };
  return page.getByRole('button', options).or(page.getByRole('combobox', options)).first();
}
