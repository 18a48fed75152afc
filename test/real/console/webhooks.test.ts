import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import {
  axeViolations,
  type ConsoleFixture,
  type ConsolePage,
  PAGE_STORAGE,
  startConsole,
  tabTo,
} from './console-fixture.ts';
import { button, dialog, secretOf } from './deployment-helpers.ts';

const run = promisify(execFile);

const NAME =
  'وكيل الطلبات 🚀 whose name is long enough for two lines and has nospacesattheendwheretheywouldhelp';
const SEARCH = 'whose name';
const PREFIX = 'Say “what” broke:';
const BODY = `{"text": "“Grüße” 'single' \\"double\\" $HOME \`x\` \\\\n",\n "zweite Zeile": "🚀 ünd"}\n`;
const SENDERS: { tab: string; file: string; command: [program: string, ...args: string[]] }[] = [
  { tab: 'curl', file: 'send.sh', command: ['bash'] },
  { tab: 'Node', file: 'send.mjs', command: [process.execPath] },
  { tab: 'Python', file: 'send.py', command: ['python3'] },
  { tab: 'Go', file: 'send.go', command: ['go', 'run'] },
];

let fixture: ConsoleFixture;
beforeAll(async () => {
  fixture = await startConsole();
  await fixture.api.createAgent({ name: NAME });
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const shownText = async (part: Locator) => (await part.textContent()) ?? '';

/** Returns a heap snapshot of the renderer after a garbage collection. */
async function heapOf({ context, page }: ConsolePage): Promise<string> {
  const session = await context.newCDPSession(page);
  const chunks: string[] = [];
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  return chunks.join('');
}

describe('webhook pages', () => {
  describe('with the keyboard only', () => {
    let consolePage: ConsolePage;
    let page: Page;
    let secret: string;
    beforeAll(async () => {
      consolePage = await fixture.open('/deployments');
      ({ page } = consolePage);
    });

    it('show an empty list, open the form with n and preview the message to the agent', async () => {
      await page.getByText('No deployments yet').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await page.keyboard.press('n');
      const agent = page.getByRole('combobox', { name: 'Agent', exact: true });
      await tabTo(page, agent);
      await page.keyboard.press('Enter');
      const name = page.getByRole('combobox', { name: 'Search agents by name' });
      await name.and(page.locator(':focus')).waitFor();
      // Each character begins a search, whose result replaces the options.
      const searched = page.waitForResponse((one) => new URL(one.url()).searchParams.get('q') === SEARCH);
      await page.keyboard.type(SEARCH);
      await searched;
      const option = page.getByRole('option', { name: NAME });
      await option.waitFor();
      await page.keyboard.press('ArrowDown');
      await option.and(page.locator('[data-highlighted]')).waitFor();
      await page.keyboard.press('Enter');
      await agent.filter({ hasText: NAME }).waitFor();
      expect(await page.getByRole('radio', { name: 'Webhook' }).isChecked()).toBe(true);
      await tabTo(page, page.getByRole('textbox', { name: 'Prompt prefix' }));
      await page.keyboard.type(PREFIX);
      const preview = page.getByRole('region', { name: 'Message to the agent' });
      const message = `${PREFIX}\n\n{"event": "hello"}`;
      await until(
        'the preview shows the message',
        async () => (await preview.locator('pre').textContent()) === message,
      );
      expect(await axeViolations(page)).toEqual([]);
    });

    it('show the secret once, until it is confirmed as stored', async () => {
      await tabTo(page, button(page, 'Create webhook'));
      const answered = secretOf(page);
      await page.keyboard.press('Enter');
      secret = await answered;
      const region = dialog(page).getByRole('region', { name: 'Shared secret' });
      expect(await shownText(region)).toBe(secret);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.goBack().catch(() => undefined);
      await region.waitFor();
      expect(await button(page, 'Done').isDisabled()).toBe(true);
      expect(await axeViolations(page)).toEqual([]);
      await tabTo(page, button(page, 'Copy: Shared secret'));
      await page.keyboard.press('Enter');
      await until(
        'the secret is in the clipboard',
        async () => (await page.evaluate<string>('navigator.clipboard.readText()')) === secret,
      );
      // The example code contains no secret.
      expect(await shownText(dialog(page).getByRole('region', { name: 'Sender with curl' }))).not.toContain(
        secret,
      );
      await tabTo(page, page.getByRole('checkbox', { name: 'I have stored the secret' }));
      await page.keyboard.press('Space');
      await tabTo(page, button(page, 'Done'));
      await page.evaluate('navigator.clipboard.writeText("")');
      await page.keyboard.press('Enter');
      await page.getByText('Waiting for your first request').waitFor();
    });

    it('keep no copy of the secret in the page', async () => {
      expect(await page.evaluate<string>(PAGE_STORAGE)).not.toContain(secret);
      expect((await heapOf(consolePage)).includes(secret)).toBe(false);
      await page.reload();
      await page.getByText('Waiting for your first request').waitFor();
      expect(await page.evaluate<string>(PAGE_STORAGE)).not.toContain(secret);
      expect(await axeViolations(page)).toEqual([]);
    });

    // The compilation of Go's libraries takes minutes on a busy machine.
    it('show why a request was rejected and highlight the first accepted one', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'senders-'));
      const send = async ({ tab, file, command }: (typeof SENDERS)[number], key: string, body: string) => {
        await tabTo(page, page.getByRole('tab', { selected: true }));
        for (;;) {
          if ((await page.getByRole('tab', { name: tab, selected: true }).count()) === 1) break;
          await page.keyboard.press('ArrowRight');
          await page.keyboard.press('Enter');
        }
        const code = await shownText(page.getByRole('region', { name: `Sender with ${tab}` }));
        const path = join(directory, file);
        await writeFile(path, code);
        const [program, ...args] = command;
        const env = {
          ...process.env,
          WEBHOOK_SECRET: key,
          GOCACHE: join(directory, 'go'),
          GOTOOLCHAIN: 'local',
        };
        return run(program, [...args, path, body], { env });
      };
      try {
        await expect(send(SENDERS[0]!, 'whsec_of_somebody_else', BODY)).rejects.toThrow();
        await page.getByText('A request arrived and was rejected').waitFor();
        const log = page.getByRole('table', { name: 'Requests' });
        await log.getByText('The signature did not match.').waitFor();
        await log.getByText('bad_signature').waitFor();
        const sessions: string[] = [];
        for (const sender of SENDERS) {
          const { data } = JSON.parse((await send(sender, secret, BODY)).stdout);
          expect(data.status).toBe('accepted');
          sessions.push(data.session_id);
        }
        for (const id of sessions) {
          const { body } = await fixture.api.get(`/sessions/${id}/events?types=user.message`);
          expect(body.data).toMatchObject([
            { data: { content: [{ type: 'text', text: `${PREFIX}\n\n${BODY}` }] } },
          ]);
          await log.getByRole('link', { name: id }).waitFor();
        }
        await page.getByText('Your first request has arrived').waitFor();
        await page
          .getByRole('status')
          .filter({ hasText: /^(New request\.|\d+ new requests\. Last request:) Accepted/ })
          .waitFor();
      } finally {
        await rm(directory, { recursive: true });
      }
      expect(await axeViolations(page)).toEqual([]);
    }, 300_000);

    it('link to the session that a request started', async () => {
      const link = page
        .getByRole('table', { name: 'Requests' })
        .getByRole('link', { name: 'Open the session' });
      const [id] = (await shownText(link.first())).match(/ses_\w+/) ?? [];
      await tabTo(page, link.first());
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/sessions/${id}*`);
      expect(consolePage.consoleMessages).toEqual([]);
      await consolePage.context.close();
    });
  });

  it('create one webhook when the response is lost and report the lost secret', async () => {
    const own = await fixture.api.createAgent({ name: 'Lost' });
    const { page, context } = await fixture.open(`/deployments/new?agent=${own}`);
    let lost = 0;
    await page.route(
      '**/deployments',
      async (route) => {
        await route.fetch();
        lost++;
        await route.abort();
      },
      { times: 1 },
    );
    await button(page, 'Create webhook').click();
    await page.getByText('The service cannot be reached.').waitFor();
    expect(lost).toBe(1);
    await button(page, 'Create webhook').click();
    await dialog(page).getByText('its secret was lost').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const answered = secretOf(page);
    await button(page, 'Delete and create another').click();
    expect(await answered).toMatch(/^whsec_/);
    await page.getByText('Store the secret now').waitFor();
    const { body } = await fixture.api.get(`/admin/agents/${own}/deployments`);
    expect(body.data).toHaveLength(1);
    await context.close();
  });
});
