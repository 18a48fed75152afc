import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam } from '../../edge/access/team.ts';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, logInAs, startConsole } from './console-fixture.ts';

/** Expressions evaluated in the page. They are strings because the tests compile without DOM types. */
const KEPT = 'location.href + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie';
const HTML = 'document.documentElement.outerHTML';
/** Creates a session with a sandbox in which a command has run. */
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
/** Whether a sandbox is ready. The page does not poll their list. */
const IS_READY = `fetch('/api/v1/admin/sandboxes').then(async (answer) =>
  (await answer.json()).data.some(({ status }) => status === 'ready'))`;
/** Returns by how many pixels the id of a sandbox is truncated. */
const CUT = `(() => {
  const { scrollWidth, clientWidth } = document.querySelector('tbody [title^=sbx_]');
  return scrollWidth - clientWidth;
})()`;

describe('administration pages in team mode', () => {
  let fixture: ConsoleFixture;
  let alice: Page;
  let bob: Page;
  let agent: string;
  beforeAll(async () => {
    fixture = await startConsole({}, startTeam);
    bob = await logIn('bob', '/tokens');
    alice = await logIn('alice', '/tokens');
    agent = await alice.evaluate<string>(RUN);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const logIn = (account: string, path: string) => logInAs(fixture, account, path);

  const asking = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetch(`${fixture.system.url}/api/v1/agents`, { headers })).status;
  };

  it('shows a new token once and keeps no copy of its value', async () => {
    await bob.getByText('No tokens yet').waitFor();
    await bob.getByRole('main').getByRole('button', { name: 'New token' }).first().click();
    await bob.getByRole('button', { name: 'Create token' }).click();
    await bob.getByText('Enter a name.').waitFor();
    expect(await axeViolations(bob)).toEqual([]);
    // Only administrators can create tokens with the scope admin.
    expect(await bob.getByRole('checkbox', { name: 'admin' }).count()).toBe(0);
    await bob.getByLabel('Name').fill('Laptop');
    await bob.getByRole('checkbox', { name: 'write' }).check();
    await bob.getByRole('button', { name: 'Create token' }).click();
    const reveal = bob.getByRole('dialog', { name: 'Store the token now' });
    const value = (await reveal.getByRole('region', { name: 'Token' }).textContent()) ?? '';
    expect(await asking(value)).toBe(200);
    expect(await axeViolations(bob)).toEqual([]);
    await bob.keyboard.press('Escape');
    await reveal.waitFor();
    expect(await reveal.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
    await reveal.getByRole('checkbox', { name: 'I have stored the token' }).check();
    await reveal.getByRole('button', { name: 'Done' }).click();
    await bob.getByRole('rowheader', { name: /^Laptop/ }).waitFor();
    await until('the dialog is closed', async () => !(await bob.evaluate<string>(HTML)).includes(value));
    expect(await bob.evaluate<string>(KEPT)).not.toContain(value);
    expect(await axeViolations(bob)).toEqual([]);
    await bob.getByRole('button', { name: 'Delete Laptop' }).click();
    await bob.getByRole('button', { name: 'Delete token' }).click();
    await bob.getByText('No tokens yet').waitFor();
    expect(await asking(value)).toBe(401);
  });

  it('blocks administration pages for members, who can read shared agents', async () => {
    for (const path of ['/administration', '/environments', '/environments/new']) {
      await bob.goto(path);
      await bob.getByText('Only administrators can access this page.').waitFor();
    }
    expect(await bob.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    await bob.goto(`/agents/${agent}?tab=access`);
    await bob.getByText('You can use this agent.').waitFor();
    expect(await bob.getByRole('tab').allTextContents()).toEqual([
      'Settings',
      'Versions',
      'Connect',
      'Extensions',
      'Sessions',
    ]);
    expect(await bob.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    const assistant = await bob.evaluate<string>(ASSISTANT);
    await alice.goto(`/assistants/${assistant}`);
    await alice
      .getByText('Only the owner can change this assistant or start conversations with it.')
      .waitFor();
    expect(await axeViolations(bob)).toEqual([]);
  });

  it('disables a user immediately and enables the user again', async () => {
    await alice.goto('/administration?tab=users');
    await alice.getByRole('rowheader', { name: 'Bob bob@example.com' }).waitFor();
    expect(await axeViolations(alice)).toEqual([]);
    await alice.getByRole('button', { name: 'Disable Bob' }).click();
    await alice
      .getByRole('dialog', { description: /^All requests of this user are rejected immediately/ })
      .waitFor();
    expect(await axeViolations(alice)).toEqual([]);
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

  it('lists and terminates a sandbox', async () => {
    await until('a sandbox is ready', () => alice.evaluate<boolean>(IS_READY));
    await alice.goto('/administration?status=ended');
    await alice.getByText('No matching sandboxes.').waitFor();
    await alice.getByRole('button', { name: 'Show existing sandboxes' }).click();
    await alice.waitForURL((url) => !url.searchParams.has('status'));
    const row = alice.getByRole('row').filter({ hasText: 'ses_' });
    await row.waitFor();
    // The end of an id distinguishes it, so it must be visible.
    expect(await alice.evaluate(CUT)).toBe(0);
    await row.getByRole('button', { name: /^Details of/ }).click();
    await alice.getByRole('region', { name: 'Effective limits' }).waitFor();
    await alice.keyboard.press('Escape');
    await row.getByRole('button', { name: /^Terminate/ }).click();
    await alice.getByRole('button', { name: 'Terminate sandbox' }).click();
    await alice.getByText('The sandbox is being terminated.').first().waitFor();
  });

  it('filters the audit log by URL parameters and verifies it', async () => {
    await alice.goto('/administration?tab=audit&action=user.disable');
    await alice.getByRole('cell', { name: 'Disabled a user' }).waitFor();
    expect(await alice.getByRole('row').count()).toBe(2);
    await alice.getByRole('cell', { name: 'Bob', exact: true }).waitFor();
    expect(await alice.getByRole('table').textContent()).not.toContain('usr_');
    // A user who is not among the newest users is requested individually.
    await alice.route('**/api/v1/admin/users', (route) =>
      route.continue({ url: `${route.request().url()}?limit=1` }),
    );
    await alice.goto('/administration?tab=audit&action=login.begin');
    await alice.getByRole('cell', { name: 'Bob', exact: true }).first().waitFor();
    await alice.unrouteAll({ behavior: 'wait' });
    await alice.goto('/administration?tab=audit&action=user.disable');
    await alice.getByRole('button', { name: /^Details of entry/ }).click();
    await alice.getByRole('button', { name: 'All actions on this resource' }).click();
    await alice.waitForURL(/target=usr_/);
    await alice.getByRole('combobox', { name: 'Action' }).click();
    await alice.getByRole('option', { name: 'Enabled a user' }).click();
    await alice.waitForURL(/action=user.enable/);
    await alice.getByRole('cell', { name: 'Enabled a user' }).waitFor();
    await alice.getByRole('button', { name: 'Verify log' }).click();
    await alice.getByText(/^All \d+ entries are unchanged\.$/).waitFor();
    expect(await axeViolations(alice)).toEqual([]);
    await alice.goto('/administration?tab=configuration&set=true');
    await alice.getByRole('row').filter({ hasText: 'SERVICE_SECRET' }).getByText('Set (hidden)').waitFor();
  });

  it('collapses the audit log filters on narrow screens and shows their number', async () => {
    await alice.setViewportSize({ width: 360, height: 800 });
    await alice.goto('/administration?tab=audit&action=user.disable&outcome=done');
    const filters = alice.getByRole('button', { name: /^Filters/ });
    await alice.getByRole('listitem').getByText('Disabled a user').waitFor();
    expect(await filters.textContent()).toBe('Filters: 2 active');
    const act = alice.getByRole('combobox', { name: 'Action' });
    expect(await act.isVisible()).toBe(false);
    await filters.click();
    expect(await filters.getAttribute('aria-expanded')).toBe('true');
    await act.click();
    await alice.getByRole('option', { name: 'Enabled a user' }).click();
    await alice.getByRole('listitem').getByText('Enabled a user').waitFor();
    expect(await axeViolations(alice)).toEqual([]);
    await alice.getByRole('button', { name: 'Show all' }).click();
    await alice.getByRole('listitem').getByText('Read the audit log').first().waitFor();
    expect(await filters.textContent()).toBe('Filters');
  });
});
