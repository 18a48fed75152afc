import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam } from '../../edge/access/team.ts';
import { EVERYWHERE, logInAs, openStage, type Stage, seriousFindings } from './stage.ts';

/** Run in pages; the compiler knows no browser. A session that waits for a decision, of an agent that is public. */
const BEGIN = `(async () => {
  const send = async (path, body) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    return (await (await fetch('/api/v1' + path, init)).json()).data;
  };
  const steps = [{ tool: 'calculator', input: { expression: '6 * 7' } }, { text: 'It is {{last_tool_output}} then.' }];
  const { agent_id: agent } = await send('/agents', {
    name: 'Shared', model: 'rehearsal/script', visibility: 'public',
    tools: [{ name: 'calculator', permission: 'ask' }], model_options: { steps },
  });
  return agent;
})()`;
const TALK = (agent: string) => `(async () => {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"message":"Six times seven?"}' };
  return (await (await fetch('/api/v1/agents/${agent}/conversations', init)).json()).data.session_id;
})()`;

describe('sessions where people log in', () => {
  let stage: Stage;
  /** The agent is hers. */
  let carol: Page;
  /** The session is his. */
  let bob: Page;
  let session: string;
  beforeAll(async () => {
    stage = await openStage({}, startTeam);
    carol = await logIn('carol', '/agents');
    const agent = await carol.evaluate<string>(BEGIN);
    bob = await logIn('bob', '/');
    session = await bob.evaluate<string>(TALK(agent));
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const said = (page: Page) => page.getByRole('region', { name: 'Conversation' }).getByText('It is 42 then.');
  const logIn = (account: string, path: string) => logInAs(stage, account, path);

  it('somebody who has not logged in sees the way in, and nothing else', async () => {
    const { page, complaints } = await stage.open(`/sessions/${session}?view=raw&event=2`);
    const link = page.getByRole('link', { name: 'Log in' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toContain(
      encodeURIComponent(`/sessions/${session}?view=raw&event=2`),
    );
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints.filter((line) => !line.includes('401'))).toEqual([]);
    await page.context().close();
  });

  it('who manages the agent reads along, and decides nothing', async () => {
    await carol.goto(`/sessions/${session}`);
    await carol.getByText('Whoever the session belongs to decides.').waitFor();
    expect(await carol.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
    expect(await carol.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    await bob.goto(`/sessions/${session}`);
    await bob.getByRole('button', { name: 'Allow' }).click();
    await said(carol).waitFor();
  });

  it('a session of somebody else is like one that is not there', async () => {
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

  it('whose login ends while they look is asked to log in again, and comes back', async () => {
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

  it('whose login ends while they only read along is asked to log in again', async () => {
    const { page, context } = await stage.open(`/sessions/${session}`);
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByLabel('Account').fill('bob');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Connection: Live').waitFor();
    // Nothing but the stream says so.
    await page.route('**/api/v1/sessions/*', (route) => route.abort());
    await context.setOffline(true);
    await context.clearCookies();
    await context.setOffline(false);
    await page.getByRole('link', { name: 'Log in' }).waitFor();
    await context.close();
  });

  it('whose page is opened anew while a token is made or shown finds what was made, and no value', async () => {
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
    expect(await page.evaluate<string>(EVERYWHERE)).not.toContain(value);
    expect(await page.getByRole('row').count()).toBe(2);
    await create.click();
    await form.waitFor();
    await page.context().close();
  });

  it('who logs out is out', async () => {
    await carol.goto('/sessions');
    await carol.getByRole('button', { name: 'Carol' }).click();
    await carol.getByRole('menuitem', { name: 'Log out' }).click();
    await carol.waitForURL((url) => url.origin !== stage.system.url || url.pathname === '/');
    await carol.goto(`${stage.system.url}/sessions`);
    await carol.getByRole('link', { name: 'Log in' }).waitFor();
  });
});
