import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam } from '../../edge/access/team.ts';
import { until } from '../../support/wait.ts';
import { logInAs, openStage, type Stage, seriousFindings } from './stage.ts';

/** Run in pages; the compiler knows no browser. */
const KEPT = 'location.href + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie';
const HTML = 'document.documentElement.outerHTML';
/** A session in whose sandbox a command has run. */
const RUN = `(async () => {
  const send = async (path, body) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    return (await (await fetch('/api/v1' + path, init)).json()).data;
  };
  const agent = await send('/agents', { name: 'Shell', model: 'rehearsal/shell', visibility: 'public' });
  await send('/agents/' + agent.agent_id + '/conversations', { message: '$ echo here' });
  return agent.agent_id;
})()`;

const ASSISTANT = `fetch('/api/v1/assistants', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: '{"name": "Desk", "model": "rehearsal/echo"}',
}).then(async (answer) => (await answer.json()).data.assistant_id)`;
/** How much of the id of a sandbox has no room, in pixels. */
const CUT = `(() => {
  const { scrollWidth, clientWidth } = document.querySelector('tbody [title^=sbx_]');
  return scrollWidth - clientWidth;
})()`;

describe('where people log in', () => {
  let stage: Stage;
  let alice: Page;
  let bob: Page;
  let agent: string;
  beforeAll(async () => {
    stage = await openStage({}, startTeam);
    bob = await logIn('bob', '/tokens');
    alice = await logIn('alice', '/tokens');
    agent = await alice.evaluate<string>(RUN);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const logIn = (account: string, path: string) => logInAs(stage, account, path);

  const asking = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetch(`${stage.system.url}/api/v1/agents`, { headers })).status;
  };

  it('a token is shown once, and is nowhere afterwards', async () => {
    await bob.getByText('You have no token yet').waitFor();
    await bob.getByRole('main').getByRole('button', { name: 'New token' }).first().click();
    await bob.getByRole('button', { name: 'Create token' }).click();
    await bob.getByText('Give it a name.').waitFor();
    expect(await seriousFindings(bob)).toEqual([]);
    // Only administrators can make one for administration.
    expect(await bob.getByRole('checkbox', { name: 'admin' }).count()).toBe(0);
    await bob.getByLabel('Name').fill('Laptop');
    await bob.getByRole('checkbox', { name: 'write' }).check();
    await bob.getByRole('button', { name: 'Create token' }).click();
    const reveal = bob.getByRole('dialog', { name: 'Store the token now' });
    const value = (await reveal.getByRole('region', { name: 'Token' }).textContent()) ?? '';
    expect(await asking(value)).toBe(200);
    expect(await seriousFindings(bob)).toEqual([]);
    await bob.keyboard.press('Escape');
    await reveal.waitFor();
    expect(await reveal.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
    await reveal.getByRole('checkbox', { name: 'I have stored the token' }).check();
    await reveal.getByRole('button', { name: 'Done' }).click();
    await bob.getByRole('rowheader', { name: /^Laptop/ }).waitFor();
    await until('the dialog has gone', async () => !(await bob.evaluate<string>(HTML)).includes(value));
    expect(await bob.evaluate<string>(KEPT)).not.toContain(value);
    expect(await seriousFindings(bob)).toEqual([]);
    await bob.getByRole('button', { name: 'Delete Laptop' }).click();
    await bob.getByRole('button', { name: 'Delete token' }).click();
    await bob.getByText('You have no token yet').waitFor();
    expect(await asking(value)).toBe(401);
  });

  it('what is for administrators is closed to others, and what is shared can be read', async () => {
    for (const path of ['/administration', '/environments', '/environments/new']) {
      await bob.goto(path);
      await bob.getByText('Only administrators may see this.').waitFor();
    }
    expect(await bob.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    await bob.goto(`/agents/${agent}?tab=access`);
    await bob.getByText('You can use this agent.').waitFor();
    expect(await bob.getByRole('tab').allTextContents()).toEqual(['Settings', 'Versions', 'Sessions']);
    expect(await bob.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    const assistant = await bob.evaluate<string>(ASSISTANT);
    await alice.goto(`/assistants/${assistant}`);
    await alice.getByText('Only its owner can change it, or speak to it.').waitFor();
    expect(await seriousFindings(bob)).toEqual([]);
  });

  it('a user who is disabled is out, and comes back', async () => {
    await alice.goto('/administration?tab=users');
    await alice.getByRole('rowheader', { name: 'Bob bob@example.com' }).waitFor();
    expect(await seriousFindings(alice)).toEqual([]);
    await alice.getByRole('button', { name: 'Disable Bob' }).click();
    await alice
      .getByRole('dialog', { description: /^They are refused everywhere from this moment on/ })
      .waitFor();
    expect(await seriousFindings(alice)).toEqual([]);
    await alice.getByRole('button', { name: 'Disable user' }).click();
    await alice.getByRole('button', { name: 'Enable Bob' }).waitFor();
    await bob.goto('/agents');
    await bob.getByRole('link', { name: 'Log in' }).waitFor();
    await alice.getByRole('button', { name: 'Enable Bob' }).click();
    await alice.getByRole('button', { name: 'Enable user' }).click();
    await alice.getByRole('button', { name: 'Disable Bob' }).waitFor();
    await bob.goto('/agents');
    await bob.getByRole('heading', { name: 'Agents' }).waitFor();
  });

  it('a sandbox is found and terminated', async () => {
    await alice.goto('/administration?status=ended');
    await alice.getByText('No sandbox is like that.').waitFor();
    await alice.getByRole('button', { name: 'Show those that are there' }).click();
    await alice.waitForURL((url) => !url.searchParams.has('status'));
    const row = alice.getByRole('row').filter({ hasText: 'ses_' });
    await until('a sandbox is ready', async () => {
      if ((await row.count()) > 0) return true;
      await alice.reload();
      await alice.getByRole('tab', { name: 'Sandboxes' }).waitFor();
      return false;
    });
    // Ids are told apart by their ends.
    expect(await alice.evaluate(CUT)).toBe(0);
    await row.getByRole('button', { name: /^Details of/ }).click();
    await alice.getByRole('region', { name: 'Limits in force' }).waitFor();
    await alice.keyboard.press('Escape');
    await row.getByRole('button', { name: /^Terminate/ }).click();
    await alice.getByRole('button', { name: 'Terminate sandbox' }).click();
    await alice.getByText('The sandbox is being ended.').first().waitFor();
  });

  it('the audit log is filtered by its URL, and proven', async () => {
    await alice.goto('/administration?tab=audit&action=user.disable');
    await alice.getByRole('cell', { name: 'Disabled a user' }).waitFor();
    expect(await alice.getByRole('row').count()).toBe(2);
    // Whoever is not among the newest is looked up.
    await alice.route('**/api/v1/admin/users', (route) =>
      route.continue({ url: `${route.request().url()}?limit=1` }),
    );
    await alice.goto('/administration?tab=audit&action=login.begin');
    await alice.getByRole('cell', { name: 'Bob', exact: true }).first().waitFor();
    await alice.unroute('**/api/v1/admin/users');
    await alice.goto('/administration?tab=audit&action=user.disable');
    await alice.getByRole('button', { name: /^Details of line/ }).click();
    await alice.getByRole('button', { name: 'Everything done to it' }).click();
    await alice.waitForURL(/target=usr_/);
    await alice.getByRole('combobox', { name: 'Act' }).click();
    await alice.getByRole('option', { name: 'Enabled a user' }).click();
    await alice.waitForURL(/action=user.enable/);
    await alice.getByRole('cell', { name: 'Enabled a user' }).waitFor();
    await alice.getByRole('button', { name: 'Verify the log' }).click();
    await alice.getByText(/^All \d+ lines are as they were written\.$/).waitFor();
    expect(await seriousFindings(alice)).toEqual([]);
    await alice.goto('/administration?tab=configuration&set=true');
    await alice
      .getByRole('row')
      .filter({ hasText: 'SERVICE_SECRET' })
      .getByText('Set, and not shown')
      .waitFor();
  });

  it('the filters of the audit log leave a phone its screen, and say how many are on', async () => {
    await alice.setViewportSize({ width: 360, height: 800 });
    await alice.goto('/administration?tab=audit&action=user.disable&outcome=done');
    const filters = alice.getByRole('button', { name: /^Filters/ });
    await alice.getByRole('listitem').getByText('Disabled a user').waitFor();
    expect(await filters.textContent()).toBe('Filters: 2 on');
    const act = alice.getByRole('combobox', { name: 'Act' });
    expect(await act.isVisible()).toBe(false);
    await filters.click();
    expect(await filters.getAttribute('aria-expanded')).toBe('true');
    await act.click();
    await alice.getByRole('option', { name: 'Enabled a user' }).click();
    await alice.getByRole('listitem').getByText('Enabled a user').waitFor();
    expect(await seriousFindings(alice)).toEqual([]);
    await alice.getByRole('button', { name: 'Show all' }).click();
    await alice.getByRole('listitem').getByText('Read the audit log').first().waitFor();
    expect(await filters.textContent()).toBe('Filters');
  });
});
