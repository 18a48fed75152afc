import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { openStage, type Scene, type Stage, seriousFindings, tabTo } from './stage.ts';

const run = promisify(execFile);

const NAME =
  'وكيل الطلبات 🚀 whose name is long enough for two lines and has nospacesattheendwheretheywouldhelp';
const PREFIX = 'Say “what” broke:';
const BODY = `{"text": "“Grüße” 'single' \\"double\\" $HOME \`x\` \\\\n",\n "zweite Zeile": "🚀 ünd"}\n`;
const SENDERS = [
  { tab: 'curl', file: 'send.sh', program: 'bash' },
  { tab: 'Node', file: 'send.mjs', program: process.execPath },
  { tab: 'Python', file: 'send.py', program: 'python3' },
];
/** Run in the page; the compiler knows no browser. */
const EVERYWHERE = `JSON.stringify([
  document.documentElement.outerHTML,
  Array.from(document.querySelectorAll('input, textarea'), ({ value }) => value),
  location.href, history.state, { ...localStorage }, { ...sessionStorage }, document.cookie,
])`;
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

let stage: Stage;
let agentId: string;
beforeAll(async () => {
  stage = await openStage();
  agentId = await stage.api.createAgent({ name: NAME });
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const shownText = async (part: Locator) => (await part.textContent()) ?? '';

/** Everything that the renderer still holds, once what nobody needs is gone. */
async function heapOf({ context, page }: Scene): Promise<string> {
  const session = await context.newCDPSession(page);
  const chunks: string[] = [];
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  return chunks.join('');
}

/** The only answer that holds it, read where the page does not notice. */
async function secretOf(page: Page): Promise<string> {
  const answer = await page.waitForResponse(
    (one) => one.request().method() === 'POST' && one.url().endsWith('/deployments'),
  );
  return (await answer.json()).data.shared_secret;
}

async function createTrigger(page: Page): Promise<{ url: string; secret: string; id: string }> {
  const answered = secretOf(page);
  await page.getByRole('button', { name: /^Create/ }).click();
  const secret = await answered;
  const url = await shownText(dialog(page).getByRole('region', { name: 'Trigger URL' }));
  await page.getByRole('checkbox', { name: 'I have stored the secret' }).check();
  await button(page, 'Done').click();
  await dialog(page).waitFor({ state: 'detached' });
  return { url, secret, id: url.split('/').at(-2) ?? '' };
}

describe('triggers', () => {
  describe('by keyboard alone', () => {
    let scene: Scene;
    let page: Page;
    let secret: string;
    beforeAll(async () => {
      scene = await stage.open('/triggers');
      ({ page } = scene);
    });

    it('are empty first, and n leads to a form that shows what the agent gets', async () => {
      await page.getByText('There is no trigger yet').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('n');
      const agent = page.getByRole('combobox', { name: 'Agent' });
      await tabTo(page, agent);
      await page.keyboard.type('whose name');
      await page.getByRole('option', { name: NAME }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      expect(await agent.inputValue()).toBe(NAME);
      expect(await page.getByRole('radio', { name: 'Webhook (HMAC-signed)' }).isChecked()).toBe(true);
      await tabTo(page, page.getByRole('textbox', { name: 'Prompt prefix' }));
      await page.keyboard.type(PREFIX);
      const preview = page.getByRole('region', { name: 'What the agent gets' });
      expect(await preview.locator('pre').textContent()).toBe(`${PREFIX}\n\n{"event": "hello"}`);
      expect(await seriousFindings(page)).toEqual([]);
    });

    it('show their secret once, until it is said to be stored', async () => {
      await tabTo(page, button(page, 'Create trigger'));
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
      expect(await seriousFindings(page)).toEqual([]);
      await tabTo(page, button(page, 'Copy: Shared secret'));
      await page.keyboard.press('Enter');
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret);
      // Code that is shared shares no secret.
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

    it('leave nothing of it behind', async () => {
      expect(await page.evaluate<string>(EVERYWHERE)).not.toContain(secret);
      expect((await heapOf(scene)).includes(secret)).toBe(false);
      await page.reload();
      await page.getByText('Waiting for your first request').waitFor();
      expect(await page.evaluate<string>(EVERYWHERE)).not.toContain(secret);
      expect(await seriousFindings(page)).toEqual([]);
    });

    it('say why a request was refused, and light up for the first one that is not', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'senders-'));
      const send = async ({ tab, file, program }: (typeof SENDERS)[number], key: string, body: string) => {
        await tabTo(page, page.getByRole('tab', { selected: true }));
        for (;;) {
          if ((await page.getByRole('tab', { name: tab, selected: true }).count()) === 1) break;
          await page.keyboard.press('ArrowRight');
          await page.keyboard.press('Enter');
        }
        const code = await shownText(page.getByRole('region', { name: `Sender with ${tab}` }));
        const path = join(directory, file);
        await writeFile(path, code);
        return run(program, [path, body], { env: { ...process.env, WEBHOOK_SECRET: key } });
      };
      try {
        await expect(send(SENDERS[0]!, 'whsec_of_somebody_else', BODY)).rejects.toThrow();
        await page.getByText('A request has arrived, and was refused').waitFor();
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
          const { body } = await stage.api.get(`/sessions/${id}/events?types=user.message`);
          expect(body.data).toMatchObject([
            { data: { content: [{ type: 'text', text: `${PREFIX}\n\n${BODY}` }] } },
          ]);
          await log.getByRole('link', { name: id }).waitFor();
        }
        await page.getByText('Your first request has arrived').waitFor();
        await page
          .getByRole('status')
          .filter({ hasText: /^(New request\.|\d new requests\. The last one:) Accepted/ })
          .waitFor();
      } finally {
        await rm(directory, { recursive: true });
      }
      expect(await seriousFindings(page)).toEqual([]);
    });

    it('lead to the session that a request has started', async () => {
      const link = page
        .getByRole('table', { name: 'Requests' })
        .getByRole('link', { name: 'Open the session' });
      const [id] = (await shownText(link.first())).match(/ses_\w+/) ?? [];
      await tabTo(page, link.first());
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/sessions/${id}*`);
      expect(scene.complaints).toEqual([]);
      await scene.context.close();
    });
  });

  it('are replaced step by step, over a reload', async () => {
    const old = await stage.api.createWebhook(agentId, { prompt_prefix: PREFIX });
    const { page, context, complaints } = await stage.open(`/triggers/${agentId}/${old.id}`);
    await page.getByRole('link', { name: 'Replace' }).click();
    expect(await page.getByRole('combobox', { name: 'Agent' }).inputValue()).toBe(NAME);
    expect(await page.getByRole('textbox', { name: 'Prompt prefix' }).inputValue()).toBe(PREFIX);
    const fresh = await createTrigger(page);
    const step = page.getByRole('list', { name: 'Steps of the replacement' }).locator('[aria-current=step]');
    await step.getByText('Switch the sender').waitFor();
    await page.reload();
    await step.getByText('Switch the sender').waitFor();
    await page.getByRole('region', { name: 'Old URL' }).getByText(old.url).waitFor();
    await page.getByRole('region', { name: 'New URL' }).getByText(fresh.url).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect((await stage.api.trigger(old, 'still here')).status).toBe(200);
    expect((await stage.api.trigger(fresh, 'here as well')).status).toBe(200);
    await step.getByText('Delete the old one').waitFor();
    expect(complaints).toEqual([]);
    await button(page, 'Delete the old trigger').click();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The old trigger is deleted.').waitFor();
    expect((await stage.api.trigger(old, 'too late')).status).toBe(404);
    expect((await stage.api.trigger(fresh, 'still here')).status).toBe(200);
    await page.getByRole('link', { name: 'Finish' }).click();
    await page.waitForURL(`${stage.system.url}/triggers/${agentId}/${fresh.id}`);
    await context.close();
  });

  it('are switched off and on and deleted where they are listed, which the URL says how', async () => {
    const own = await stage.api.createAgent({ name: 'Switched' });
    const webhook = await stage.api.createWebhook(own);
    const { page, context, complaints } = await stage.open('/triggers?status=enabled');
    await page.getByRole('searchbox', { name: 'Search by agent, type or id' }).fill('switched');
    await page.waitForURL('**/triggers?*q=switched*');
    const status = async () => (await stage.api.trigger(webhook, 'x')).status;
    const act = async (what: string) => {
      await page.getByRole('button', { name: `Actions for Switched, ${webhook.id}` }).click();
      await page.getByRole('menuitem', { name: what, exact: true }).click();
    };
    await act('Disable');
    await dialog(page).getByText('answered with 404').waitFor();
    await dialog(page).getByRole('button', { name: 'Disable' }).click();
    await page.getByText('No trigger is like that.').waitFor();
    expect(await status()).toBe(404);
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Disabled' }).click();
    await page.waitForURL('**status=disabled*');
    await act('Enable');
    await until('it is enabled', async () => (await status()) === 200);
    await page.goto('/triggers?q=switched');
    await act('Delete');
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No trigger is like that.').waitFor();
    expect(await status()).toBe(404);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are made once when the answer is lost, and say that their secret is lost with it', async () => {
    const own = await stage.api.createAgent({ name: 'Lost' });
    const { page, context } = await stage.open(`/triggers/new?agent=${own}`);
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
    await button(page, 'Create trigger').click();
    await page.getByText('The service cannot be reached.').waitFor();
    expect(lost).toBe(1);
    await button(page, 'Create trigger').click();
    await dialog(page).getByText('its secret is gone').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    const answered = secretOf(page);
    await button(page, 'Delete it and create another').click();
    expect(await answered).toMatch(/^whsec_/);
    await page.getByText('Store the secret now').waitFor();
    const { body } = await stage.api.get(`/admin/agents/${own}/deployments`);
    expect(body.data).toHaveLength(1);
    await context.close();
  });

  it('are as many as there are, on a telephone as well', async () => {
    const own = await stage.api.createAgent({ name: `${NAME} 2` });
    const many = 230;
    for (let made = 0; made < many; made += 10)
      await Promise.all(Array.from({ length: 10 }, () => stage.api.createWebhook(own)));
    for (const [width, role] of [
      [1280, 'row'],
      [360, 'listitem'],
    ] as const) {
      const { page, context, complaints } = await stage.open(
        `/triggers?q=${encodeURIComponent(`${NAME} 2`)}`,
        { width },
      );
      const rows = page.getByRole('main').getByRole(role).filter({ hasText: 'dep_' });
      await rows.first().waitFor();
      await until('all are loaded', async () => {
        await page.keyboard.press('End');
        return (
          (await page
            .getByRole('status')
            .filter({ hasText: `${many} triggers` })
            .count()) > 0
        );
      });
      expect(await rows.count()).toBeLessThan(many / 2);
      expect(await page.evaluate<number>(OVERFLOW)).toBe(0);
      if (width < 1280) expect(await seriousFindings(page)).toEqual([]);
      await rows.last().getByRole('link', { name: NAME }).click();
      await page.getByText('Waiting for your first request').waitFor();
      expect(await page.evaluate<number>(OVERFLOW)).toBe(0);
      expect(complaints).toEqual([]);
      await context.close();
    }
  });
});
