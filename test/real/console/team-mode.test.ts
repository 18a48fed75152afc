import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam } from '../../edge/access/team.ts';
import { countOn } from '../../support/sql.ts';
import {
  axeViolations,
  type ConsoleFixture,
  logInAs,
  PAGE_STORAGE,
  startConsole,
} from './console-fixture.ts';

/** Returns the expression that creates a public agent and returns its id. Evaluated in the page, hence a string. */
const createAgent = (members: object) => `(async () => {
  const body = JSON.stringify({ model: 'rehearsal/script', visibility: 'public', ...${JSON.stringify(members)} });
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  return (await (await fetch('/api/v1/agents', init)).json()).data.agent_id;
})()`;
/** An agent that waits for an approval. */
const CAREFUL = {
  name: 'Shared',
  tools: [{ name: 'calculator', permission: 'ask' }],
  model_options: {
    steps: [
      { tool: 'calculator', input: { expression: '6 * 7' } },
      { text: 'It is {{last_tool_output}} then.' },
    ],
  },
};
/** An agent that writes for minutes. */
const RUNAWAY = {
  name: 'Runaway',
  model_options: { steps: [{ text: 'word '.repeat(10_000), chunk_chars: 5, delay_ms: 50 }] },
};
const TALK = (agent: string) => `(async () => {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"message":"Six times seven?"}' };
  return (await (await fetch('/api/v1/agents/${agent}/conversations', init)).json()).data.session_id;
})()`;
const sendMessage = (session: string, content: string) => `(async () => {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ content: '${content}' }) };
  await fetch('/api/v1/sessions/${session}/messages', init);
})()`;

describe('console in team mode', () => {
  let fixture: ConsoleFixture;
  /** Owns the agent. */
  let carol: Page;
  /** Owns the session. */
  let bob: Page;
  let session: string;
  beforeAll(async () => {
    fixture = await startConsole({}, startTeam);
    carol = await logIn('carol', '/agents');
    const agent = await carol.evaluate<string>(createAgent(CAREFUL));
    bob = await logIn('bob', '/');
    session = await bob.evaluate<string>(TALK(agent));
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const said = (page: Page) => page.getByRole('region', { name: 'Conversation' }).getByText('It is 42 then.');
  const logIn = (account: string, path: string) => logInAs(fixture, account, path);

  it('shows only the login page without a login, and requests only the login', async () => {
    const auditEntries = () => countOn(fixture.system.databaseUrl, 'select count(*) from auth.acts');
    const entriesBefore = await auditEntries();
    const { page, consoleMessages } = await fixture.open('/tokens');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    const link = page.getByRole('link', { name: 'Log in' });
    for (const path of ['/', '/sessions?all=true', `/sessions/${session}?view=raw&event=2`]) {
      await page.goto(path);
      await link.waitFor();
    }
    await page.waitForLoadState('networkidle');
    expect(new Set(requests.filter((path) => path.startsWith('/api/')))).toEqual(
      new Set(['/api/v1/auth/session']),
    );
    expect(await auditEntries()).toBe(entriesBefore);
    expect(await link.getAttribute('href')).toContain(
      encodeURIComponent(`/sessions/${session}?view=raw&event=2`),
    );
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    expect(consoleMessages.filter((line) => !line.includes('401'))).toEqual([]);
    await page.context().close();
  });

  it('lets a manager of the agent read a session without deciding approvals', async () => {
    await carol.goto(`/sessions/${session}`);
    await carol.getByText('Only the owner of the session can decide.').waitFor();
    expect(await carol.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
    expect(await carol.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    await bob.goto(`/sessions/${session}`);
    await bob.getByRole('button', { name: 'Allow' }).click();
    await said(carol).waitFor();
  });

  it('shows an inaccessible session like a missing one', async () => {
    const hers = await carol.evaluate<string>(
      `fetch('/api/v1/agents').then(async (answer) => (await answer.json()).data[0].agent_id)`,
    );
    const session = await carol.evaluate<string>(TALK(hers));
    await bob.goto(`/sessions/${session}`);
    await bob.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    const other = await bob.getByRole('main').textContent();
    await bob.goto('/sessions/ses_00000000000000000000000000');
    await bob.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    expect(await bob.getByRole('main').textContent()).toBe(other);
  });

  it('asks for a new login when the login ends, and returns to the page', async () => {
    await bob.goto(`/sessions/${session}`);
    await said(bob).waitFor();
    await bob.context().clearCookies();
    await bob.getByRole('textbox', { name: 'Message' }).fill('Are you there?');
    await bob.keyboard.press('Enter');
    await bob.getByRole('link', { name: 'Log in' }).click();
    await bob.getByLabel('Account').fill('bob');
    await bob.getByRole('button', { name: 'Log in' }).click();
    await said(bob).waitFor();
    expect(new URL(bob.url()).pathname).toBe(`/sessions/${session}`);
  });

  it('asks for a new login when the login ends on a page that only streams events', async () => {
    const { page, context } = await fixture.open(`/sessions/${session}`);
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByLabel('Account').fill('bob');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Connection: Live').waitFor();
    // Only the event stream reports the expired login.
    await page.route('**/api/v1/sessions/*', (route) => route.abort());
    await context.setOffline(true);
    await context.clearCookies();
    await context.setOffline(false);
    await page.getByRole('link', { name: 'Log in' }).waitFor();
    await context.close();
  });

  it('lists a token after a reload during its creation, without its value', async () => {
    const page = await logIn('bob', '/tokens');
    const create = page.getByRole('button', { name: 'New token' }).first();
    const form = page.getByRole('dialog', { name: 'New token' });
    await create.click();
    await form.getByLabel('Name').fill('Nightly');
    await page.reload();
    await create.click();
    expect(await form.getByLabel('Name').inputValue()).toBe('');
    await form.getByLabel('Name').fill('Nightly');
    await form.getByRole('button', { name: 'Create token' }).click();
    const shown = page.getByRole('dialog').getByRole('region', { name: 'Token', exact: true });
    const value = (await shown.textContent()) ?? '';
    expect(value).toMatch(/^\S{20,}$/);
    page.once('dialog', (asked) => asked.accept());
    await page.reload();
    await page.getByRole('row').filter({ hasText: 'Nightly' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.evaluate<string>(PAGE_STORAGE)).not.toContain(value);
    expect(await page.getByRole('row').count()).toBe(2);
    await create.click();
    await form.waitFor();
    await page.context().close();
  });

  it('lets an administrator and a manager stop the session of another user, and nothing else', async () => {
    const agent = await carol.evaluate<string>(createAgent(RUNAWAY));
    const alice = await logIn('alice', '/');
    const viewers = [
      { page: alice, role: 'an administrator' },
      { page: carol, role: 'a manager of its agent' },
    ];
    const stopped: string[] = [];
    for (const { page, role } of viewers) {
      const runaway = await bob.evaluate<string>(TALK(agent));
      await bob.evaluate(sendMessage(runaway, 'Wait here'));
      await page.goto(`/sessions/${runaway}`);
      await page.getByText(`You see this session of Bob as ${role}.`).waitFor();
      await page.getByText('Owner: Bob').waitFor();
      expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Session actions' }).click();
      await page.getByRole('menuitem').first().waitFor();
      expect(await page.getByRole('menuitem').allTextContents()).toEqual([
        'Stop',
        'Available extensions',
        'Copy as curl',
        'Copy as curl: stream events',
      ]);
      await page.keyboard.press('Escape');
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
      // The queued message waits. Only its owner can change the queue.
      const queue = page.getByRole('region', { name: 'Queued messages' });
      await queue.getByText('Wait here', { exact: true }).waitFor();
      await queue.getByText('1 message on hold').waitFor();
      expect(await queue.getByRole('button').count()).toBe(0);
      stopped.push(runaway);
    }

    await alice.goto('/administration?tab=audit&action=session.interrupt');
    const entries = alice.getByRole('row').filter({ hasText: 'Stopped a session' });
    await entries.nth(1).waitFor();
    for (const [index, actor] of ['Carol', 'you'].entries()) {
      await entries.nth(index).getByText(actor).waitFor();
      await entries
        .nth(index)
        .getByText(stopped.at(-1 - index) ?? '')
        .waitFor();
    }
    await alice.context().close();
  });

  it('shows the owners of sessions in lists with several owners', async () => {
    const agent = await carol.evaluate<string>(createAgent(RUNAWAY));
    const runaway = await bob.evaluate<string>(TALK(agent));
    await carol.goto(`/agents/${agent}?tab=sessions`);
    const item = carol.getByRole('listitem').filter({ hasText: 'Owner: Bob' });
    await item.getByText('Running', { exact: true }).waitFor();
    await item.getByRole('button', { name: /^Actions for/ }).click();
    await carol.getByRole('menuitem', { name: 'Stop', exact: true }).click();
    await item.getByText('Stopped', { exact: true }).waitFor();
    const alice = await logIn('alice', '/sessions?all=true');
    const row = alice.getByRole('row').filter({ hasText: runaway });
    await row.getByText('Bob', { exact: true }).waitFor();
    expect(await axeViolations(alice)).toEqual([]);
    await alice.context().close();
  });

  it('shares an agent with users who are found by name or e-mail address', async () => {
    const agent = await carol.evaluate<string>(createAgent({ name: 'To share' }));
    await carol.goto(`/agents/${agent}?tab=access`);
    await carol.getByRole('radio', { name: 'Restricted' }).click();
    const users = carol.getByRole('combobox', { name: 'Users' });
    await users.fill('bo');
    await carol.getByRole('option', { name: /^Bob/ }).waitFor();
    expect(await axeViolations(carol)).toEqual([]);
    await users.press('ArrowDown');
    await users.press('Enter');
    await carol.getByRole('button', { name: 'Remove Bob' }).waitFor();
    expect(await users.inputValue()).toBe('');

    const managers = carol.getByRole('combobox', { name: 'Managers' });
    await managers.fill('ob@example.com');
    await managers.press('Enter');
    await carol.getByText('No user has the e-mail address ob@example.com.').waitFor();
    // The list would cover the problem.
    expect(await carol.getByRole('option').count()).toBe(0);
    await carol.getByRole('button', { name: 'Save' }).click();
    await managers.and(carol.locator('[aria-invalid=true]')).waitFor();
    await managers.fill('alice@example.com');
    await managers.press('Enter');
    await carol.getByRole('button', { name: 'Remove Alice' }).waitFor();
    await carol.getByRole('button', { name: 'Save' }).click();
    await carol.getByText('Saved.').waitFor();
    await carol.reload();
    for (const name of ['Bob', 'Alice'])
      await carol.getByRole('button', { name: `Remove ${name}` }).waitFor();
    expect(await carol.getByRole('main').textContent()).not.toContain('usr_');
  });

  it('keeps a user removed whose removal precedes the result of a search', async () => {
    const agent = await carol.evaluate<string>(createAgent({ name: 'To unshare' }));
    await carol.goto(`/agents/${agent}?tab=access`);
    const managers = carol.getByRole('combobox', { name: 'Managers' });
    await managers.fill('bob@example.com');
    await managers.press('Enter');
    const bobsRemoval = carol.getByRole('button', { name: 'Remove Bob' });
    await bobsRemoval.waitFor();
    const isRemoved = Promise.withResolvers<void>();
    await carol.route('**/api/v1/users?*', async (route) => {
      await isRemoved.promise;
      await route.continue();
    });
    await managers.fill('alice@example.com');
    await bobsRemoval.click();
    isRemoved.resolve();
    await carol.getByRole('button', { name: 'Remove Alice' }).waitFor();
    expect(await bobsRemoval.count()).toBe(0);
    await carol.unrouteAll({ behavior: 'wait' });
  });

  it('shows no error for a search that was ended by further typing', async () => {
    const agent = await carol.evaluate<string>(createAgent({ name: 'To search' }));
    await carol.goto(`/agents/${agent}?tab=access`);
    const managers = carol.getByRole('combobox', { name: 'Managers' });
    const hasTypedOn = Promise.withResolvers<void>();
    await carol.route('**/api/v1/users?*', async (route) => {
      await hasTypedOn.promise;
      await route.continue().catch(() => {});
    });
    const requested = carol.waitForRequest('**/api/v1/users?q=bo');
    await managers.fill('bo');
    await requested;
    await managers.press('Enter');
    await managers.fill('bob');
    hasTypedOn.resolve();
    await carol.getByRole('option', { name: /^Bob/ }).waitFor();
    expect(await carol.getByRole('alert').allTextContents()).toEqual([]);
    await carol.unrouteAll({ behavior: 'wait' });
  });

  it('ends the login on logout', async () => {
    await carol.goto('/sessions');
    await carol.getByRole('button', { name: 'Carol' }).click();
    await carol.getByRole('menuitem', { name: 'Log out' }).click();
    await carol.waitForURL((url) => url.origin !== fixture.system.url || url.pathname === '/');
    await carol.goto(`${fixture.system.url}/sessions`);
    await carol.getByRole('link', { name: 'Log in' }).waitFor();
  });
});
