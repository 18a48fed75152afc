import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam } from '../../edge/access/team.ts';
import { axeViolations, type ConsoleFixture, fitsWindow, logInAs, startConsole } from './console-fixture.ts';

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
    const echo = { name: 'Echo', model: 'rehearsal/echo', visibility: 'public' };
    const agent = await carol.evaluate<string>(postFrom('/agents', echo, 'agent_id'));
    const editor = { name: 'Editor', scopes: ['mcp'] };
    const value = await bob.evaluate<string>(postFrom('/auth/tokens', editor, 'value'));
    session = await beginOverMcp(value, agent);
    token = await bob.evaluate<string>(
      `fetch('/api/v1/auth/tokens').then(async (answer) => (await answer.json()).data[0].token_id)`,
    );
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  /** Begins a conversation as an MCP client, and returns the id of the session. */
  async function beginOverMcp(value: string, agentId: string): Promise<string> {
    const params = {
      name: 'create_conversation',
      arguments: { agent_id: agentId, message: 'Hello', wait_seconds: 50 },
    };
    const response = await fetch(`${fixture.system.url}/api/v1/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${value}`,
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        'MCP-Protocol-Version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const answer = await response.text();
    const [id] = /ses_\w{26}/.exec(answer) ?? [];
    if (id === undefined) throw new Error(`the answer names no session: ${answer}`);
    return id;
  }

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

  it.each([1_280, 360])('shows both in the list of sessions, in a window of %i pixels', async (width) => {
    await bob.setViewportSize({ width, height: 800 });
    await bob.goto('/sessions');
    await bob.getByRole('main').getByText('MCP · Editor', { exact: true }).waitFor();
    await fitsWindow(bob);
    expect(await axeViolations(bob)).toEqual([]);
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
