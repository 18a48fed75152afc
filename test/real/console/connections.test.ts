import { mkdir } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthorizationServer, protectServer } from '../../support/authorization-server.ts';
import { type McpTestServer, startMcpServer } from '../../support/mcp-server.ts';
import { addReviewedServer } from '../../support/reviewed-server.ts';
import { rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  axeViolations,
  type ConsoleFixture,
  fitsWindow,
  PAGE_STORAGE,
  startConsole,
  tabTo,
} from './console-fixture.ts';

/** The folder for pictures of the pages; without it none are taken. */
const PICTURES = process.env.SERVICE_TEST_PICTURES;
const TOKEN = 'canary-token-of-the-user';

describe('connections', () => {
  const stack = new AsyncDisposableStack();
  let fixture: ConsoleFixture;
  let issuer: AuthorizationServer;
  let remote: McpTestServer;
  let calls = 0;
  beforeAll(async () => {
    issuer = stack.use(await AuthorizationServer.open({}));
    const find = {
      description: 'Finds.',
      call: () => {
        calls += 1;
        return { content: [{ type: 'text' as const, text: 'found' }] };
      },
    };
    remote = stack.use(await startMcpServer({ find }));
    const hosts = [remote.port, issuer.port].map((port) => `127.0.0.1:${port}`).join(',');
    fixture = stack.use(await startConsole({ SERVICE_OUTBOUND_PRIVATE_HOSTS: hosts }));
    issuer.origin = fixture.system.url;
    if (PICTURES) await mkdir(PICTURES, { recursive: true });
  });
  afterAll(() => stack.disposeAsync());

  const picture = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  /** Checks a page in both themes and at the width of a phone. */
  async function inspect(page: Page, name: string): Promise<void> {
    await picture(page, name);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `${name}-dark`);
    await page.setViewportSize({ width: 360, height: 800 });
    await fitsWindow(page);
    await picture(page, `${name}-phone`);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  }

  /** A reviewed server to which users connect, with OAuth or with this token. */
  async function createServer(name: string, token?: string): Promise<string> {
    const id = await addReviewedServer(fixture.api, remote, name);
    if (token === undefined) protectServer(remote, issuer);
    else {
      for (const path of Object.keys(remote.documents)) delete remote.documents[path];
      remote.refusal = { status: 401, challenge: 'Bearer' };
      remote.authorization = `Bearer ${token}`;
    }
    return id;
  }
  const group = (page: Page, name: string) => page.getByRole('list', { name });

  it('begin in the same tab, can be used by deployments with consent, and end', async () => {
    await createServer('github');
    const { page, consoleMessages } = await fixture.open('/');
    await page.getByRole('button', { name: 'Local mode' }).click();
    await page.getByRole('menuitem', { name: 'Connections' }).click();
    await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor();
    await page.getByText('No connections yet.').waitFor();
    await inspect(page, 'connections-none');
    await tabTo(page, group(page, 'Available servers').getByRole('button', { name: 'Connect to github' }));
    await page.keyboard.press('Enter');
    const connected = group(page, 'Connected').getByRole('listitem').filter({ hasText: 'github' });
    await connected.getByText('active', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/connections');
    expect(await connected.textContent()).toContain('read');
    const consent = connected.getByRole('checkbox', { name: /^Use in runs of my deployments/ });
    await consent.check();
    await inspect(page, 'connections');
    const stored = async () => {
      const { connections } = (await fixture.api.get('/auth/connections')).body.data as unknown as Listed;
      return connections.map((connection) => connection.use_in_triggered_sessions);
    };
    await until('the consent is stored', async () => (await stored())[0] === true);
    await connected.getByRole('button', { name: 'Disconnect from github' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No connections yet.').waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('begin from the chat, return to the session, and let the turn continue', async () => {
    const id = await createServer('tracker');
    const steps = [{ tool: 'mcp__tracker__find', input: {} }, { text: 'Finished.' }];
    const agentId = await fixture.api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    await fixture.api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [id] });
    const begun = await fixture.api.post(`/agents/${agentId}/conversations`, { message: 'Go' });
    const path = `/sessions/${begun.body.data.session_id}`;
    const { page } = await fixture.open(path);
    const other = await fixture.open(path);
    const title = `Connect to tracker (127.0.0.1:${remote.port})`;
    await other.page.getByRole('group', { name: title }).waitFor();
    const connect = page.getByRole('button', { name: title });
    await connect.waitFor();
    await page.getByRole('button', { name: /^Go on without/ }).waitFor();
    await inspect(page, 'connect-card');
    await tabTo(page, connect);
    await page.keyboard.press('Enter');
    await page.getByText('Finished.', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
    // The card of the other page closes by itself.
    await other.page.getByText('Finished.', { exact: true }).waitFor();
    expect(await other.page.getByRole('group', { name: title }).count()).toBe(0);
    expect(calls).toBe(1);
    await page.context().close();
    await other.page.context().close();
  });

  it('that are refused lead the browser back to the page with a message', async () => {
    const callback = '/api/v1/auth/connections/callback?state=wrong&code=canary';
    const { page, consoleMessages } = await fixture.open(callback);
    await page.getByRole('alert').filter({ hasText: 'The connection was refused' }).waitFor();
    expect(page.url()).toBe(`${fixture.system.url}/connections?refused=CONNECTION_REFUSED`);
    await inspect(page, 'connection-refused');
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('take a token for a server without OAuth, empty its field, and keep it nowhere', async () => {
    await createServer('plain', TOKEN);
    const { page } = await fixture.open('/connections');
    await page.getByRole('button', { name: 'Connect to plain' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect to plain' });
    const field = dialog.getByLabel('Token', { exact: true });
    expect(await field.getAttribute('type')).toBe('password');
    await inspect(page, 'connection-token');
    await field.fill(`${TOKEN}-wrong`);
    await field.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'accepts' }).first().waitFor();
    expect(await field.inputValue()).toBe('');
    expect(await page.evaluate(PAGE_STORAGE)).not.toContain(TOKEN);
    await field.fill(TOKEN);
    await field.press('Enter');
    await group(page, 'Connected').getByRole('heading', { name: 'plain' }).waitFor();
    expect(await page.evaluate(PAGE_STORAGE)).not.toContain(TOKEN);
    await page.context().close();
  });

  it('that have ended are counted in the user menu', async () => {
    await createServer('ended', TOKEN);
    const { page } = await fixture.open('/connections');
    await page.getByRole('button', { name: 'Connect to ended' }).click();
    await page.getByLabel('Token', { exact: true }).fill(TOKEN);
    await page.keyboard.press('Enter');
    await group(page, 'Connected').getByRole('heading', { name: 'ended' }).waitFor();
    const { connections } = (await fixture.api.get('/auth/connections')).body.data as unknown as Listed;
    const id = connections.find(({ name }) => name === 'ended')?.connection_id;
    const end = `update vaults.credentials set status = 'needs_connection' where credential_id = '${id}' returning 1`;
    expect(await rowsOn(fixture.system.databaseUrl, end)).toHaveLength(1);
    await page.goto('/');
    await page.getByRole('button', { name: 'Local mode 1 connection to renew' }).waitFor();
    await inspect(page, 'connection-badge');
    await page.goto('/connections');
    await page.getByText('The authorization has ended. Connect again.').waitFor();
    await inspect(page, 'connection-ended');
    await page.context().close();
  });
});

interface Listed {
  connections: { connection_id: string; name: string; use_in_triggered_sessions: boolean }[];
}
