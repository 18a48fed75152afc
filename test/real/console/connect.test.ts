import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam } from '../../edge/access/team.ts';
import { until } from '../../support/wait.ts';
import {
  axeViolations,
  type ConsoleFixture,
  fitsWindow,
  logInAs,
  PAGE_STORAGE,
  startConsole,
  tabTo,
} from './console-fixture.ts';

const run = promisify(execFile);

/** Creates a public agent and returns its id. Evaluated in the page, hence a string. */
const CREATE_AGENT = `(async () => {
  const body = JSON.stringify({ name: 'Support Desk', model: 'rehearsal/echo', visibility: 'public' });
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  return (await (await fetch('/api/v1/agents', init)).json()).data.agent_id;
})()`;

/** Chooses a client and returns the text that its button copies. */
async function copyText(page: Page, client: string): Promise<string> {
  await page.getByRole('tab', { name: client, exact: true }).click();
  await page.evaluate('navigator.clipboard.writeText("")');
  await page.getByRole('button', { name: `Copy: Text for ${client}` }).click();
  return until('the text is copied', async () => page.evaluate<string>('navigator.clipboard.readText()'));
}

/** Runs a copied command. The inspector is the installed one. */
async function runCopied(command: string): Promise<string> {
  const installed = command.replace('npx -y @modelcontextprotocol/inspector', 'mcp-inspector');
  const { stdout } = await run('bash', ['-c', installed]);
  return stdout;
}

describe('connect page of an agent', () => {
  describe('without logins', () => {
    let fixture: ConsoleFixture;
    let agentId: string;
    beforeAll(async () => {
      fixture = await startConsole();
      agentId = await fixture.api.createAgent({ name: 'Support Desk' });
      await fixture.api.createAgent({ name: 'Front Office' });
    });
    afterAll(() => fixture?.[Symbol.asyncDispose]());

    it.each(['curl', 'MCP Inspector'])('copies a command for %s that lists the tools', async (client) => {
      const { page, consoleMessages } = await fixture.open(`/agents/${agentId}?tab=connect`);
      const own = await runCopied(await copyText(page, client));
      expect(own).toContain('ask_support_desk');
      expect(own).not.toContain('ask_front_office');
      await page.getByRole('radio', { name: 'All agents' }).click();
      await page.getByText(`${fixture.system.url}/api/v1/mcp`, { exact: true }).waitFor();
      expect(await runCopied(await copyText(page, client))).toContain('ask_front_office');
      expect(consoleMessages).toEqual([]);
      await page.context().close();
    });

    it('copies a command that asks the agent with the OpenAI API, unless it is not exposed', async () => {
      const { page } = await fixture.open(`/agents/${agentId}?tab=connect`);
      await page.evaluate('navigator.clipboard.writeText("")');
      await page.getByRole('button', { name: 'Copy: Text for the OpenAI API' }).click();
      const command = await until('the text is copied', async () =>
        page.evaluate<string>('navigator.clipboard.readText()'),
      );
      expect(JSON.parse(await runCopied(command))).toMatchObject({
        object: 'chat.completion',
        choices: [{ message: { content: expect.stringContaining('Hello!') } }],
      });
      await page.getByText(`${fixture.system.url}/api/v1/openai/v1`, { exact: true }).waitFor();
      await page.getByRole('switch', { name: 'OpenAI API' }).click();
      await page.getByText('Clients of the OpenAI API do not find the agent.').first().waitFor();
      expect(await page.getByText('Base URL').count()).toBe(0);
      expect(JSON.parse(await runCopied(command))).toMatchObject({ error: { code: 'model_not_found' } });
      await page.getByRole('switch', { name: 'OpenAI API' }).click();
      await page.getByText('Base URL').waitFor();
      await page.context().close();
    });

    it('exposes the agent to A2A clients, with a card and a command that sends a message', async () => {
      const { page, consoleMessages } = await fixture.open(`/agents/${agentId}?tab=connect`);
      const choose = async (state: string) => {
        await page.getByRole('combobox', { name: 'A2A' }).click();
        await page.getByRole('option', { name: state, exact: true }).click();
      };
      expect(await page.getByText('Agent card').count()).toBe(0);
      await choose('On, public card');
      await page.getByText('A2A clients find the agent.').first().waitFor();
      const url = `${fixture.system.url}/api/v1/a2a/${agentId}/.well-known/agent-card.json`;
      await page.getByText(url, { exact: true }).waitFor();
      expect(await (await fetch(url)).json()).toMatchObject({ name: 'Support Desk' });
      await page.evaluate('navigator.clipboard.writeText("")');
      await page.getByRole('button', { name: 'Copy: Text for A2A' }).click();
      const command = await until('the text is copied', async () =>
        page.evaluate<string>('navigator.clipboard.readText()'),
      );
      const task = {
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ parts: [{ text: 'Hello!' }] }],
      };
      expect(JSON.parse(await runCopied(command))).toMatchObject({ result: { task } });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await axeViolations(page)).toEqual([]);
      }
      await page.setViewportSize({ width: 390, height: 844 });
      await fitsWindow(page);
      await choose('Off');
      await page.getByText('A2A clients do not find the agent.').first().waitFor();
      expect(await page.getByText('Agent card').count()).toBe(0);
      expect(consoleMessages).toEqual([]);
      await page.context().close();
    });

    it('changes the exposure by keyboard, without a new version or losing unsaved settings', async () => {
      const { page } = await fixture.open(`/agents/${agentId}`);
      await page.getByRole('textbox', { name: 'Name' }).fill('Renamed');
      const tabs = page.getByRole('tablist', { name: 'Agent sections' });
      await tabs.getByRole('tab', { name: 'Settings' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      const toggle = page.getByRole('switch', { name: 'MCP' });
      await tabTo(page, toggle);
      await page.keyboard.press('Space');
      await page.getByText('MCP clients do not find the agent.').first().waitFor();
      expect((await fixture.api.get(`/agents/${agentId}`)).body.data).toMatchObject({
        exposure: { mcp: 'off', openai: 'on', a2a: 'off' },
        version: 1,
      });
      expect(await page.getByRole('tablist', { name: 'Clients' }).count()).toBe(0);
      await toggle.and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Space');
      await page.getByRole('tablist', { name: 'Clients' }).waitFor();
      await tabs.getByRole('tab', { name: 'Settings' }).click();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
      await fixture.api.send('PATCH', `/agents/${agentId}`, { name: 'Support Desk' });
      await page.context().close();
    });
  });

  describe('in team mode', () => {
    let fixture: ConsoleFixture;
    let agentId: string;
    let bob: Page;
    beforeAll(async () => {
      fixture = await startConsole({}, startTeam);
      bob = await logInAs(fixture, 'bob', '/agents');
      agentId = await bob.evaluate<string>(CREATE_AGENT);
    });
    afterAll(() => fixture?.[Symbol.asyncDispose]());

    it('creates a token that every text contains until the user has stored it', async () => {
      const carol = await logInAs(fixture, 'carol', `/agents/${agentId}?tab=connect`);
      expect(await copyText(carol, 'curl')).toContain('Bearer $TOKEN');
      expect(await copyText(carol, 'Cursor')).toContain('Bearer YOUR_TOKEN');
      await carol.getByRole('textbox', { name: 'Name' }).fill('Editor');
      await carol.getByRole('button', { name: 'Create token' }).click();
      await carol.getByText('It is shown only once.').and(carol.locator(':focus')).waitFor();
      expect(await axeViolations(carol)).toEqual([]);
      const command = await copyText(carol, 'curl');
      expect(await runCopied(command)).toContain('ask_support_desk');
      const token = /Bearer (\S+)"/.exec(command)?.[1] ?? '';
      for (const client of ['Claude Code', 'Claude Desktop', 'VS Code', 'Cursor', 'MCP Inspector'])
        expect(await copyText(carol, client)).toContain(`Bearer ${token}`);

      await carol.getByRole('tab', { name: 'Settings' }).click();
      await carol.getByRole('dialog', { name: 'Have you stored the token?' }).waitFor();
      await carol.getByRole('button', { name: 'Stay' }).click();
      await carol.getByRole('button', { name: 'I have stored the token' }).click();
      await carol.getByRole('button', { name: 'Create token' }).waitFor();
      await carol.evaluate('navigator.clipboard.writeText("")');
      expect(await carol.evaluate<string>(PAGE_STORAGE)).not.toContain(token);
      await carol.goto('/tokens');
      await carol
        .getByRole('row', { name: /Editor/ })
        .getByText('mcp')
        .waitFor();
      expect(await carol.getByText('approve').count()).toBe(0);
      await carol.context().close();
    });

    it('shows the exposure to other users read-only', async () => {
      const carol = await logInAs(fixture, 'carol', `/agents/${agentId}?tab=connect`);
      await carol.getByText('Only managers of the agent can change this.').first().waitFor();
      expect(await carol.getByRole('switch').count()).toBe(0);
      await bob.goto(`/agents/${agentId}?tab=connect`);
      await bob.getByRole('switch', { name: 'MCP' }).click();
      await bob.getByRole('switch', { name: 'MCP', checked: false }).waitFor();
      await carol.reload();
      // MCP and A2A.
      await carol.getByText('Off', { exact: true }).nth(1).waitFor();
      expect(await carol.getByRole('tablist', { name: 'Clients' }).count()).toBe(0);
      await carol.context().close();
    });
  });
});
