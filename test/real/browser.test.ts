import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { openChromium } from '../support/chromium.ts';
import { type HostilePage, openHostilePage } from '../support/hostile-page.ts';
import { type System, startSystem } from '../support/system.ts';

describe('in Chromium', () => {
  let system: System;
  let browser: Browser;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await system?.[Symbol.asyncDispose]();
  });

  async function open(url: string): Promise<{ page: Page; complaints: string[]; requested: string[] }> {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const requested: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(url);
    return { page, complaints, requested };
  }

  it('/docs shows the API reference without requests to other origins and without console errors', async () => {
    const { page, complaints, requested } = await open(`${system.url}/docs`);
    await page.getByText('Create an agent').first().waitFor();
    await page.getByRole('heading', { name: 'Agent Hosting Service' }).waitFor();
    // The page renders sections as they scroll into view.
    await page.getByRole('button', { name: 'Operations' }).first().click();
    await page.getByText('Check whether the process runs').first().waitFor();
    await page.getByRole('heading', { name: 'Operations' }).first().scrollIntoViewIfNeeded();
    const shot = process.env.SERVICE_TEST_SCREENSHOT;
    if (shot) await page.screenshot({ path: shot });
    expect(complaints).toEqual([]);
    const foreign = requested.filter(
      (url) => !url.startsWith(`${system.url}/`) && !/^(data|blob):/.test(url),
    );
    expect(foreign).toEqual([]);
    await page.close();
  });

  it('pages of the service may use the API', async () => {
    const { page } = await open(`${system.url}/docs`);
    const status = await page.evaluate(async () => {
      const headers = { 'Content-Type': 'application/json' };
      const body = JSON.stringify({ name: 'Own', model: 'rehearsal/echo' });
      return (await fetch('/api/v1/agents', { method: 'POST', headers, body })).status;
    });
    expect(status).toBe(201);
    await page.close();
  });

  it('links from other sites may open /docs but not API paths', async () => {
    await using hostile = await openHostilePage();
    const { page } = await open(`http://127.0.0.1:${hostile.port}/`);
    for (const [path, status] of [
      ['/docs', 200],
      ['/api/v1/agents', 403],
    ] as const) {
      await page.goto(`http://127.0.0.1:${hostile.port}/`);
      const answered = page.waitForResponse(`${system.url}${path}`);
      await page.evaluate(`attack.follow(${JSON.stringify(system.url + path)})`);
      expect((await answered).status()).toBe(status);
      await page.waitForURL(system.url + path);
    }
    await page.close();
  });

  describe.each(['127.0.0.1', 'localhost'])('a hostile page on %s', (host) => {
    let hostile: HostilePage;
    let page: Page;
    let targets: Targets;
    beforeAll(async () => {
      hostile = await openHostilePage();
      targets = await furnish(api);
      ({ page } = await open(`http://${host}:${hostile.port}/`));
    });
    afterAll(async () => {
      await page?.close();
      await hostile?.[Symbol.asyncDispose]();
    });

    const attack = <Result>(name: string, argument: unknown) =>
      page.evaluate<Result>(`attack.${name}(${JSON.stringify(argument)})`);
    /** The two host names under which the page can address the service. */
    const origins = () => [system.url, system.url.replace('127.0.0.1', 'localhost')];

    it('cannot read a response', async () => {
      for (const origin of origins()) {
        const read = await attack<{ how: string; url: string; got: string }[]>('read', {
          origin,
          ...targets,
        });
        expect(read.filter(({ got }) => got !== 'nothing')).toEqual([]);
        expect(read.length).toBeGreaterThan(20);
      }
    });

    it('cannot change a resource', async () => {
      const before = await everything(system);
      for (const origin of origins()) await attack('change', { origin, ...targets });
      expect(await everything(system)).toEqual(before);
    });

    it('cannot change or show a resource through a form or a window', async () => {
      const before = await everything(system);
      for (const origin of origins()) {
        for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
          for (const path of [
            `/sessions/${targets.session}/archive`,
            `/agents/${targets.agent}/conversations`,
          ]) {
            const answered = page
              .context()
              .waitForEvent('response', (one) => one.url() === `${origin}/api/v1${path}`);
            const opened = page.context().waitForEvent('page');
            await attack('submit', { action: `${origin}/api/v1${path}`, enctype });
            expect((await answered).status()).toBe(403);
            await (await opened).close();
          }
        }
        const answered = page
          .context()
          .waitForEvent('response', (one) => one.url() === `${origin}/api/v1/agents`);
        const opened = page.context().waitForEvent('page');
        await attack('popUp', `${origin}/api/v1/agents`);
        expect((await answered).status()).toBe(403);
        const popup = await opened;
        await popup.waitForLoadState();
        expect(await popup.textContent('body')).not.toContain(targets.agent);
        await popup.close();
      }
      expect(await everything(system)).toEqual(before);
    });
  });
});

interface Targets {
  agent: string;
  session: string;
  deployment: string;
}

async function furnish(api: Api): Promise<Targets> {
  const agent = await api.createAgent({ name: 'Secret agent' });
  const { id: deployment } = await api.createWebhook(agent);
  const { body } = await api.post(`/agents/${agent}/conversations`);
  return { agent, session: String(body.data.session_id), deployment };
}

/** Reads all rows that a request could change. */
async function everything({ databaseUrl }: System): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const tables = [
      'agents.agents',
      'sessions.sessions',
      'sessions.turns',
      'sessions.journal',
      'deployments.deployments',
    ];
    const rows = [];
    for (const table of tables)
      rows.push((await client.query(`select to_jsonb(t) as row from ${table} t order by 1`)).rows);
    return rows;
  } finally {
    await client.end();
  }
}
