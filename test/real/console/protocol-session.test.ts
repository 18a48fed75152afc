import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam } from '../../edge/access/team.ts';
import { runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { axeViolations, type ConsoleFixture, logInAs, startConsole } from './console-fixture.ts';

/** Posts a body and returns a member of the data. Evaluated in the page, hence a string. */
const postFrom = (path: string, body: object, member: string) => `(async () => {
  const body = ${JSON.stringify(JSON.stringify(body))};
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  return (await (await fetch('/api/v1${path}', init)).json()).data.${member};
})()`;

describe('a session of an MCP client', () => {
  let fixture: ConsoleFixture;
  /** Owns the session and the token. */
  let bob: Page;
  /** Manages the agent. */
  let carol: Page;
  let session: string;
  let token: string;
  beforeAll(async () => {
    fixture = await startConsole({}, startTeam);
    [bob, carol] = [await logInAs(fixture, 'bob', '/'), await logInAs(fixture, 'carol', '/')];
    const post = (page: Page, path: string, body: object, member: string) =>
      page.evaluate<string>(postFrom(path, body, member));
    const agent = await post(
      carol,
      '/agents',
      { name: 'Echo', model: 'rehearsal/echo', visibility: 'public' },
      'agent_id',
    );
    token = await post(bob, '/auth/tokens', { name: 'Editor', scopes: ['mcp'] }, 'token_id');
    session = await post(bob, `/agents/${agent}/conversations`, { message: 'Hello' }, 'session_id');
    await until('the turn has ended', async () => {
      const read = `fetch('/api/v1/sessions/${session}').then(async (answer) => (await answer.json()).data.state)`;
      return (await bob.evaluate<string>(read)) === 'completed';
    });
    // The events of an MCP client differ from those of a user in these members.
    await runOn(
      fixture.system.databaseUrl,
      `update sessions.journal set events = regexp_replace(
         replace(events, '"source":"conversation"', '"source":"mcp"'),
         '"actor":\\{"type":"user","id":"[^"]*"\\}', '"actor":{"type":"mcp","id":"${token}"}', 'g')
       where session_id = '${session}'`,
    );
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const sourceOf = (page: Page, name: string) =>
    page.getByRole('main').getByText(`Source: MCP · ${name}`, { exact: true });
  const messageOf = (page: Page) => page.getByRole('article', { name: 'Message from User' });

  it('shows the protocol and the name of the token to its owner', async () => {
    await bob.goto(`/sessions/${session}`);
    await sourceOf(bob, 'Editor').waitFor();
    await messageOf(bob).getByText('MCP · Editor', { exact: true }).waitFor();
    expect(await axeViolations(bob)).toEqual([]);
    await bob.goto(`/sessions/${session}?view=raw&event=1`);
    const event = bob.getByRole('region', { name: 'Event 1' });
    await event.getByText(`mcp ${token}`, { exact: true }).waitFor();
    await event.getByText('MCP · Editor', { exact: true }).waitFor();
  });

  it('shows the id of the token to another user, and of a deleted token', async () => {
    await carol.goto(`/sessions/${session}`);
    await sourceOf(carol, token).waitFor();
    await messageOf(carol).getByText(`MCP · ${token}`, { exact: true }).waitFor();
    await bob.evaluate(`fetch('/api/v1/auth/tokens/${token}', { method: 'DELETE' })`);
    await bob.goto(`/sessions/${session}`);
    await sourceOf(bob, token).waitFor();
  });
});
