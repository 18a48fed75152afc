import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam, type Team } from '../edge/access/team.ts';
import { openChromium } from '../support/chromium.ts';
import { openHostilePage } from '../support/hostile-page.ts';
import { until } from '../support/wait.ts';

/** Scripts that run in pages, as text, because the compiler has no browser types here. */
const COOKIES = 'document.cookie';
const NAMES = `fetch('/api/v1/agents').then(async (answer) => (await answer.json()).data.map(({ name }) => name))`;
const FOLLOW = `(async () => {
  const [{ agent_id: agent }] = (await (await fetch('/api/v1/agents')).json()).data;
  const talk = await fetch('/api/v1/agents/' + agent + '/conversations', { method: 'POST' });
  const { session_id: session } = (await talk.json()).data;
  window.source = new EventSource('/api/v1/sessions/' + session + '/events/stream');
  await new Promise((resolve) => window.source.addEventListener('stream.caught_up', resolve));
})()`;
const IS_CLOSED = 'window.source.readyState === EventSource.CLOSED';
const LOG_OUT = `fetch('/api/v1/auth/logout', { method: 'POST' })
  .then(async (answer) => (await answer.json()).data.end_session_url)`;

/** The status and code that a page of the service receives. */
const asking = (method: string, path: string, body?: object) => {
  const init = {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  };
  return `fetch('/api/v1${path}', ${JSON.stringify(init)})
    .then(async (answer) => answer.status + ' ' + (await answer.json()).code)`;
};

/** Requests that a foreign page can send with the cookies of the browser. */
const attackOn = (origin: string) => `(async () => {
  const body = new Blob(['{"name": "Evil", "model": "rehearsal/echo"}'], { type: 'text/plain' });
  const send = (path, init) =>
    fetch('${origin}/api/v1' + path, { credentials: 'include', mode: 'no-cors', ...init }).then(
      async (answer) => answer.type + (await answer.text()),
      () => 'nothing',
    );
  const answers = [
    await send('/agents', { method: 'POST', body }),
    await send('/auth/logout', { method: 'POST' }),
    await send('/agents', {}),
    await send('/auth/login', {}),
  ];
  const form = document.createElement('form');
  Object.assign(form, { method: 'POST', action: '${origin}/api/v1/auth/logout', enctype: 'text/plain' });
  document.body.append(form);
  form.submit();
  return answers;
})()`;

describe('a login in Chromium', () => {
  let team: Team;
  let chromium: Browser;
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    team = await startTeam();
    chromium = await openChromium();
    context = await chromium.newContext();
    page = await context.newPage();
  });
  afterAll(async () => {
    await chromium?.close();
    await team?.[Symbol.asyncDispose]();
  });

  const run = <Result>(script: string) => page.evaluate<Result>(script);

  it('redirects to the provider and back to the requested page', async () => {
    await page.goto(`${team.url}/docs`);
    expect(await run(asking('GET', '/agents'))).toBe('401 UNAUTHENTICATED');
    await page.goto(`${team.url}/api/v1/auth/login?return_to=%2Fdocs%3Fafter%3Dlogin`);
    expect(new URL(page.url()).origin).toBe(team.provider.issuer);
    await page.getByLabel('Account').fill('bob');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(`${team.url}/docs?after=login`);
    expect(await run(asking('GET', '/agents'))).toBe('200 OK');
    expect(await run(asking('POST', '/agents', { name: 'Mine', model: 'rehearsal/echo' }))).toBe('201 OK');
  });

  it('sets a cookie that scripts cannot read', async () => {
    const cookies = (await context.cookies(team.url)).filter(({ name }) => name.startsWith('ahs_'));
    expect(cookies).toEqual([
      expect.objectContaining({
        name: 'ahs_login',
        httpOnly: true,
        sameSite: 'Lax',
        path: '/',
        secure: false,
      }),
    ]);
    expect(await run(COOKIES)).not.toContain('ahs_');
  });

  it.each(['127.0.0.1', 'localhost'])('cannot be used by a foreign page on %s', async (host) => {
    await using hostile = await openHostilePage();
    const stranger = await context.newPage();
    await stranger.goto(`http://${host}:${hostile.port}/`);
    const left = context.waitForEvent('response', (one) => one.url() === `${team.url}/api/v1/auth/logout`);
    const answers = await stranger.evaluate<string[]>(attackOn(team.url));
    expect(answers.filter((one) => one !== 'opaque' && one !== 'nothing')).toEqual([]);
    expect((await left).status()).toBe(403);
    await stranger.close();
    // An unreadable request could still have had an effect.
    expect(await run(NAMES)).toEqual(['Mine']);
  });

  it('ends its streams at logout', async () => {
    await run(FOLLOW);
    const end = await run<string>(LOG_OUT);
    expect(await run(asking('GET', '/agents'))).toBe('401 UNAUTHENTICATED');
    // EventSource reconnects, is refused, and stops.
    await until('the stream is closed for good', () => run<boolean>(IS_CLOSED));
    const names = (await context.cookies(team.url)).map(({ name }) => name);
    expect(names).not.toContain('ahs_login');
    await page.goto(end);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(`${team.url}/`);
    // The provider has ended its login too.
    await page.goto(`${team.url}/api/v1/auth/login`);
    await page.getByLabel('Account').waitFor();
  });
});
