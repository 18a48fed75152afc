import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skillFile, zipOf } from '../../services/agents/skills/archives.ts';
import { dataOfCreated } from '../../support/api.ts';
import { createChannelClient } from '../../support/channel-client.ts';
import { type McpTestServer, startMcpServer } from '../../support/mcp-server.ts';
import { until } from '../../support/wait.ts';
import { offeredLink, storeConversation } from './channel-rows.ts';
import { checkAll } from './check-all.ts';
import {
  axeViolations,
  type ConsoleFixture,
  type ConsolePage,
  fitsWindow,
  startConsole,
} from './console-fixture.ts';
import { createWorkspaceHelpers } from './workspace-helpers.ts';

const LONG = `Support مساعد الدعم 🤖 ${'and on '.repeat(8)}${'unbroken'.repeat(8)}`;
/** A long name of an environment. */
const SLUG = 'unbroken'.repeat(7);
/** A long name of an MCP server. */
const SERVER = `s${'unbroken'.repeat(3)}`;
/** A long name of a skill. */
const SKILL = 'unbroken'.repeat(8);
const UNKNOWN_CODE = 'k3T0c9pXQe2m7VwYh1Zs5A';
const UNKNOWN_SESSION = 'ses_00000000000000000000000000';
/** Number of parallel browser windows. */
const AT_ONCE = 3;
/** Each test loads about twenty pages in each window. */
const TEST_MS = 900_000;

/** Path, title, and a text that is visible once the page has loaded. */
const PAGES: [path: string, title: string, text: string][] = [
  ['/', 'Home', 'This system'],
  ['/sessions', 'Sessions', LONG],
  ['/sessions/:asking', LONG, 'Waiting for approval'],
  ['/sessions/:asking?view=timeline', LONG, 'Waiting for your decision'],
  ['/sessions/:asking?view=raw&event=2', LONG, 'session.created'],
  ['/sessions/:asking?view=files', LONG, 'No files yet'],
  ['/sessions/:files?view=files&path=notes.md', LONG, 'Remember'],
  ['/deployments', 'Deployments', LONG],
  ['/deployments/new', 'New deployment', 'Prompt prefix'],
  ['/deployments/new?type=schedule', 'New deployment', 'Next times'],
  ['/deployments/:agent/:webhook', LONG, 'Waiting for your first request'],
  ['/deployments/:reporter/:schedule', LONG, 'Succeeded'],
  ['/deployments/:reporter/:schedule?tab=settings', LONG, 'Next times'],
  ['/deployments/:reporter/:schedule?tab=backfills', LONG, 'No backfills yet'],
  ['/deployments/new?type=channel', 'New deployment', 'App-level token'],
  ['/deployments/:desk/:channel', LONG, 'The first room'],
  ['/deployments/:desk/:channel?tab=deliveries', LONG, 'The account is not linked to a user.'],
  ['/deployments/:desk/:channel?tab=posts', LONG, 'The file is too large.'],
  ['/deployments/:desk/:channel?tab=people', LONG, 'Grace Hopper'],
  ['/deployments/:desk/:channel?tab=setup', LONG, 'Sign each request'],
  ['/deployments/:desk/:channel?tab=settings', LONG, 'Greeting'],
  ['/deployments/:desk/:slack?tab=setup', LONG, 'Create an app from a manifest'],
  ['/deployments/:agent/:webhook?replaces=:old', LONG, 'Replacement'],
  ['/link/:code', 'Link an account', 'only if this is your own account'],
  [`/link/${UNKNOWN_CODE}`, 'Link an account', 'The link was used or has expired.'],
  ['/agents', 'Agents', LONG],
  ['/agents/new', 'New agent', 'Metadata'],
  ['/agents/:agent', LONG, 'Metadata'],
  ['/agents/:agent?tab=versions', LONG, 'From'],
  ['/agents/:agent?tab=connect', LONG, 'claude mcp add'],
  ['/agents/:agent?tab=access', LONG, 'Restricted'],
  ['/agents/:agent?tab=sessions', LONG, 'No sessions yet'],
  ['/agents/:agent?tab=deployments', LONG, 'New deployment'],
  ['/assistants', 'Assistants', LONG],
  ['/assistants/new', 'New assistant', 'Metadata'],
  ['/assistants/:assistant', LONG, 'Metadata'],
  ['/assistants/:assistant?tab=files', LONG, 'No files yet'],
  ['/environments', 'Environments', 'default'],
  ['/environments/new', 'New environment', 'Variables'],
  ['/environments/:environment', SLUG, 'Variables'],
  ['/environments/:environment?tab=versions', SLUG, 'Version 1'],
  ['/vaults', 'Vaults', SLUG],
  ['/vaults/new', 'New vault', 'Unique among shared vaults'],
  ['/vaults/:vault', SLUG, 'GITHUB_TOKEN'],
  ['/agents/:agent?tab=vaults', LONG, SLUG],
  ['/assistants/:assistant?tab=vaults', LONG, 'No vaults are assigned'],
  ['/mcp-servers', 'MCP servers', SERVER],
  ['/mcp-servers/new', 'New MCP server', 'A part of the names of its tools'],
  ['/mcp-servers/:server', SERVER, 'U+200B'],
  ['/mcp-servers/:server?tab=settings', SERVER, 'These members cannot be changed'],
  ['/skills', 'Skills', SKILL],
  ['/skills/new', 'New skill', 'Drop a zip'],
  ['/skills/:skill', SKILL, 'SKILL.md'],
  ['/skills/:skill?version=1&path=SKILL.md', SKILL, 'All files'],
  ['/skills/:skill?tab=versions', SKILL, 'Mode changed'],
  ['/agents/:agent?tab=extensions', LONG, SKILL],
  ['/assistants/:assistant?tab=extensions', LONG, SKILL],
  ['/administration', 'Administration', 'simulated'],
  ['/administration?tab=audit', 'Administration', 'Read the audit log'],
  ['/administration?tab=configuration&q=SERVICE_P', 'Administration', 'SERVICE_PORT'],
  ['/tokens', 'Tokens', 'its API needs no tokens'],
  ['/connections', 'Connections', 'No connections yet'],
  [`/sessions/${UNKNOWN_SESSION}`, 'Not found', 'This page does not exist'],
  ['/nowhere', 'Not found', 'This page does not exist'],
];

/** Dialogs and menus of each page: the button, and the item of its menu that opens a dialog. */
const OPENED: [path: string, ...opened: [button: string | RegExp, item?: string][]][] = [
  ['/', ['Search Ctrl K'], ['Local mode'], ['Local mode', 'Keyboard shortcuts']],
  ['/sessions', ['State'], [/^Actions for/]],
  [
    '/sessions/:files',
    [/^Context/],
    ['Session actions'],
    ['Session actions', 'Available extensions'],
    ['Session actions', 'Rename'],
    ['Session actions', 'Archive'],
    ['Session actions', 'Delete'],
    [/^Actions for event/],
  ],
  ['/sessions/:files?view=raw', ['Types']],
  ['/sessions/:files?view=files&path=notes.md', ['Upload'], ['New folder'], ['Rename or move'], ['Delete']],
  [
    '/deployments',
    ['Type'],
    ['Status'],
    [/^Actions for/],
    [/^Actions for/, 'Disable'],
    [/^Actions for/, 'Delete'],
  ],
  ['/deployments/new', ['Agent']],
  ['/deployments/:agent/:webhook', ['Disable'], ['Delete']],
  ['/deployments/new?type=schedule', ['Kind of timing'], ['Times that the clock skips']],
  [
    '/deployments/:reporter/:schedule',
    ['Run now'],
    ['Disable'],
    ['Delete'],
    ['Status'],
    [/^Actions for run/],
  ],
  ['/deployments/new?type=channel', ['Agent']],
  ['/deployments/:desk/:channel', ['Disable'], ['Delete']],
  ['/deployments/:desk/:channel?tab=deliveries', ['Result']],
  ['/deployments/:desk/:channel?tab=posts', ['State'], ['Send again']],
  ['/deployments/:desk/:channel?tab=people', [/^Unlink/]],
  ['/agents/:agent', ['Start a conversation'], ['Delete']],
  ['/assistants/:assistant', ['Start a conversation'], ['Delete']],
  ['/environments/:environment', ['Disable'], ['Delete']],
  ['/vaults', ['Rotate keys']],
  [
    '/vaults/:vault',
    ['Edit'],
    ['Disable'],
    ['Rotate keys'],
    ['Delete'],
    ['New credential'],
    [/^Actions for/],
    [/^Actions for/, 'Replace secret'],
    [/^Actions for/, 'Disable'],
    [/^Actions for/, 'Delete'],
  ],
  ['/agents/:agent?tab=vaults', ['Vault to add']],
  ['/mcp-servers/:server', ['Disable'], ['Delete'], ['Permission of send'], ['Effect of send']],
  ['/skills/:skill', ['Disable'], ['Delete'], ['New version'], ['Version']],
  ['/administration', ['Sandbox status'], [/^Details of/], [/^Terminate/]],
  ['/administration?tab=audit', ['Action'], [/^Details of entry/]],
];
const IN_FRONT = '[data-base-ui-portal] :is([role=dialog], [role=menu], [role=listbox]):visible';

/** Pages whose requests fail, except for the paths that match `answered`. */
const FAILING: [path: string, answered?: RegExp][] = [
  ['/'],
  ['/sessions'],
  ['/sessions/:asking'],
  ['/sessions/:files?view=files', /\/sessions\/[^/]+(\/events.*)?$/],
  ['/deployments'],
  ['/deployments/:agent/:webhook'],
  ['/deployments/:reporter/:schedule'],
  ['/deployments/:reporter/:schedule', /\/deployments\/[^/]+$/],
  ...['', '?tab=deliveries', '?tab=posts', '?tab=people', '?tab=setup'].map((tab): [string, RegExp] => [
    `/deployments/:desk/:channel${tab}`,
    /\/deployments\/[^/]+$/,
  ]),
  ['/link/:code'],
  ['/environments'],
  ['/agents'],
  ['/agents/:agent'],
  ['/agents/:agent?tab=versions', /\/agents\/[^/]+$/],
  ['/agents/:agent?tab=sessions', /\/agents\/[^/]+$/],
  ['/agents/:agent?tab=deployments', /\/agents\/[^/]+$/],
  ['/assistants'],
  ['/assistants/:assistant'],
  ['/assistants/:assistant?tab=files', /\/assistants\/[^/]+$/],
  ['/environments/:environment'],
  ['/environments/:environment?tab=versions', /\/environments\/[^/]+$/],
  ['/vaults'],
  ['/vaults/:vault'],
  ['/vaults/:vault', /\/vaults\/[^/]+$/],
  ['/agents/:agent?tab=vaults', /\/agents\/[^/]+$/],
  ['/mcp-servers'],
  ['/mcp-servers/:server'],
  ['/mcp-servers/:server', /\/mcp-servers\/[^/]+$/],
  ['/agents/:agent?tab=extensions', /\/agents\/[^/]+$/],
  ['/skills'],
  ['/skills/:skill'],
  ['/skills/:skill', /\/skills\/[^/]+$/],
  ['/skills/:skill?tab=versions', /\/skills\/[^/]+(\/versions)?$/],
  ['/administration'],
  ['/administration?tab=audit'],
  ['/administration?tab=configuration'],
];

describe('accessibility of every console page', () => {
  let fixture: ConsoleFixture;
  let remote: McpTestServer;
  let pages: ConsolePage[];
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    remote = await startMcpServer({
      find: { description: `Finds. ${LONG}`, annotations: { readOnlyHint: true } },
      send: { description: `Sends.\u200b ${LONG}` },
    });
    fixture = await startConsole({ SERVICE_OUTBOUND_PRIVATE_HOSTS: `127.0.0.1:${remote.port}` });
    await createResources();
    pages = await Promise.all(Array.from({ length: AT_ONCE }, () => fixture.open('/tokens')));
  });
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]();
    await remote?.[Symbol.asyncDispose]();
  });

  const at = (path: string) => path.replace(/:([a-z]+)/g, (_, name: string) => ids[name] ?? name);

  /** Publishes a skill with a long description, and returns its id. */
  async function publish(path: string, name: string, mode: number): Promise<string> {
    const archive = zipOf([
      { name: 'SKILL.md', data: skillFile(name, [`description: ${LONG}`]) },
      { name: `${SLUG}/${SLUG}.sh`, data: 'echo', mode: 0o100000 | mode },
    ]);
    const response = await fetch(`${fixture.system.url}/api/v1/admin/skills${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/zip' },
      body: new Uint8Array(archive),
    });
    const { data } = JSON.parse(await response.text());
    return String(data.skill_id);
  }

  /** Creates one resource of each kind, with long names. */
  async function createResources(): Promise<void> {
    const { api } = fixture;
    const made = async (path: string, body: object, id: string) =>
      String((await api.post(path, body)).body.data[id]);
    ids.agent = await api.createAgent({ name: LONG });
    await api.send('PATCH', `/agents/${ids.agent}`, { system: 'Two\nlines' });
    ids.old = (await api.createWebhook(ids.agent)).id;
    ids.webhook = (await api.createWebhook(ids.agent)).id;
    ids.reporter = await api.createAgent({ name: LONG });
    const deployments = `/admin/agents/${ids.reporter}/deployments`;
    const schedule = { type: 'schedule', name: LONG, prompt: LONG, cron: '0 9 * * *' };
    ids.schedule = await made(deployments, schedule, 'deployment_id');
    await api.post(`${deployments}/${ids.schedule}/run`);
    await createChannels();
    ids.assistant = await made('/assistants', { name: LONG, model: 'rehearsal/echo' }, 'assistant_id');
    const environment = { name: SLUG, sandbox: { provider: 'simulated' } };
    ids.environment = await made('/admin/environments', environment, 'environment_id');
    ids.vault = await made('/admin/vaults', { name: SLUG, description: LONG }, 'vault_id');
    await made('/admin/vaults', { name: `other ${SLUG}` }, 'vault_id');
    const credential = {
      type: 'environment_variable',
      name: 'GITHUB_TOKEN',
      allowed_hosts: ['api.github.com'],
    };
    const path = `/admin/vaults/${ids.vault}/credentials`;
    await made(path, { ...credential, value: 'a-secret-of-some-length' }, 'credential_id');
    await api.send('PUT', `/admin/agents/${ids.agent}/vaults`, { vault_ids: [ids.vault] });
    const server = { name: SERVER, url: remote.url, transport: 'streamable_http', description: LONG };
    ids.server = await made('/admin/mcp-servers', server, 'mcp_server_id');
    await api.post(`/admin/mcp-servers/${ids.server}/probe`, {});
    ids.skill = await publish('', SKILL, 0o644);
    await publish(`/${ids.skill}/versions`, SKILL, 0o755);
    const chosen = { mcp_server_ids: [ids.server], skill_ids: [`${ids.skill}@1`] };
    await api.send('PUT', `/agents/${ids.agent}/extensions`, chosen);
    const careful = await api.createAgent({ ...CAREFUL });
    const message = 'Six times seven?';
    ids.asking = await made(`/agents/${careful}/conversations`, { message }, 'session_id');
    const workspaces = await createWorkspaceHelpers(fixture);
    ids.files = await workspaces.begin();
    await workspaces.put(ids.files, { 'notes.md': 'Remember' });
    await api.post(`/sessions/${ids.files}/messages`, { content: '$ echo here' });
    // The list of sandboxes is not polled.
    await until('the sandbox is ready', async () => {
      const [sandbox] = (await api.get('/admin/sandboxes')).body.data as { status: string }[];
      return sandbox?.status === 'ready';
    });
    for (const id of [ids.asking, ids.files]) await api.send('PATCH', `/sessions/${id}`, { title: LONG });
  }

  /** Creates a channel with rows in every tab and an offered link, and one whose setup has not begun. */
  async function createChannels(): Promise<void> {
    const { api, system } = fixture;
    ids.desk = await api.createAgent({ name: LONG });
    const create = async (provider: string) => {
      const body = { type: 'channel', provider, name: LONG };
      return dataOfCreated(await api.post(`/admin/agents/${ids.desk}/deployments`, body));
    };
    ids.slack = String((await create('slack')).deployment_id);
    const { deployment_id: id, shared_secret: secret } = await create('http');
    ids.channel = String(id);
    await storeConversation(fixture, { agentId: ids.desk, deploymentId: ids.channel });
    const link = await offeredLink(createChannelClient(system.url, ids.channel, String(secret)));
    ids.code = link.slice('/link/'.length);
  }

  it(
    'has no serious axe violations, one title and no horizontal scrolling on a phone',
    async () => {
      const targets = PAGES.map(([path, title, sight]) => ({ name: path, title, sight }));
      expect(
        await checkAll(pages, targets, async ({ page, consoleMessages }, { name, title, sight }) => {
          await page.setViewportSize({ width: 1280, height: 900 });
          await goWithin(page, at(name));
          await page.getByRole('heading', { level: 1, name: title }).waitFor();
          await page.getByRole('main').getByText(sight).first().waitFor();
          const found = await axeViolations(page);
          if ((await page.locator('h1').count()) !== 1)
            found.push('the page does not have exactly one title');
          await page.setViewportSize({ width: 360, height: 800 });
          await fitsWindow(page);
          forget(consoleMessages, '404');
          return found;
        }),
      ).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'opens dialogs and menus without serious axe violations and restores the focus',
    async () => {
      const targets = OPENED.map(([name, ...opened]) => ({ name, opened }));
      expect(
        await checkAll(pages, targets, async ({ page }, { name, opened }) => {
          const found: string[] = [];
          await page.setViewportSize({ width: 1280, height: 900 });
          await page.goto(at(name));
          for (const [button, item] of opened) {
            const opener = openerOf(page, button);
            await opener.click();
            if (item) await page.getByRole('menuitem', { name: item, exact: true }).click();
            await page.locator(IN_FRONT).first().waitFor();
            if (item) await page.locator('[role=dialog]').waitFor();
            for (const line of await axeViolations(page)) found.push(`${button} ${item ?? ''}: ${line}`);
            await page.keyboard.press('Escape');
            await until('it is closed', async () => (await page.locator(IN_FRONT).count()) === 0);
            await until(`${button} has the focus`, () => hasFocus(page));
          }
          return found;
        }),
      ).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'shows errors with a retry and recovers',
    async () => {
      const targets = FAILING.map(([name, answered]) => ({ name, answered }));
      expect(
        await checkAll(pages, targets, async ({ page, consoleMessages }, { name, answered }) => {
          const found: string[] = [];
          let answer = 500;
          await page.route(/\/api\/v1\/(?!auth\/(?!link-codes\/))/, (route) => {
            const { pathname } = new URL(route.request().url());
            return answered?.test(pathname) ? route.continue() : route.fulfill(refusalOf(answer));
          });
          for (const status of [500, 403]) {
            answer = status;
            if (status === 500) await page.goto(at(name));
            const alert = page
              .getByRole('alert')
              .filter({ hasText: `Refused with ${status}.` })
              .first();
            // A page that polls gets the second answer by itself.
            if (status === 403)
              await clickUntil(page.getByRole('button', { name: 'Try again' }).first(), alert);
            await alert.getByText('req_00000000000000000000000000').waitFor();
            await page.getByRole('region', { name: 'curl command' }).first().waitFor();
            await page.getByRole('heading', { level: 1 }).waitFor();
            // The page is the same for both statuses, so it is checked once.
            if (status === 500) found.push(...(await axeViolations(page)));
          }
          await page.unrouteAll({ behavior: 'wait' });
          await retryAll(page);
          forget(consoleMessages, '500', '403');
          return found;
        }),
      ).toEqual([]);
    },
    TEST_MS,
  );
});

const CAREFUL = {
  name: 'Careful',
  model: 'rehearsal/script',
  tools: [{ name: 'calculator', permission: 'ask' }],
  model_options: { steps: [{ tool: 'calculator', input: { expression: '6 * 7' } }, { text: 'That is it.' }] },
};

/** Clicks the button unless the result appears without a click. */
async function clickUntil(button: Locator, result: Locator): Promise<void> {
  await until(`${result} is visible`, async () => {
    if (await result.isVisible()) return true;
    await button.click({ timeout: 500 }).catch(() => {});
    return result.isVisible();
  });
}

/** Clicks every retry button until none is left. Recovered content may contain further failed requests. */
async function retryAll(page: Page): Promise<void> {
  const again = page.getByRole('button', { name: /^(?:Try again|Retrying)$/ });
  await until('all requests have succeeded', async () => {
    // A button does nothing during its retry.
    const clicked = await again.evaluateAll((buttons: { click(): void }[]) => {
      for (const button of buttons) button.click();
      return buttons.length;
    });
    return clicked === 0;
  });
}

/** Removes the browser's own console messages for failed requests. */
function forget(consoleMessages: string[], ...statuses: string[]): void {
  const others = consoleMessages.filter(
    (line) => !statuses.some((status) => line.includes(`status of ${status}`)),
  );
  consoleMessages.splice(0, consoleMessages.length, ...others);
}

function refusalOf(status: number) {
  const error = { code: 'X', status_code: status, user_message: `Refused with ${status}.`, retryable: false };
  const request_id = 'req_00000000000000000000000000';
  return { status, json: { code: 'X', message: 'x', data: null, error: { ...error, request_id } } };
}

/** Navigates like a link of the console. */
const goWithin = (page: Page, path: string) =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
const hasFocus = (page: Page) => page.evaluate<boolean>('document.activeElement !== document.body');

/** Returns the button or combobox with a name. */
function openerOf(page: Page, name: string | RegExp) {
  const options = typeof name === 'string' ? { name, exact: true } : { name };
  return page.getByRole('button', options).or(page.getByRole('combobox', options)).first();
}
