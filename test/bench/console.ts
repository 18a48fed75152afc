import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { createApi } from '../support/api.ts';
import { openChromium } from '../support/chromium.ts';
import { type Bench, percentile } from './bench.ts';
import { fillTalk, settle } from './fill.ts';
import { startWhole } from './subjects.ts';

/** What the console costs whoever opens it in Chromium. */
export interface Console {
  /** Compressed, of the first page alone. */
  scriptKiB: number;
  /** From the navigation to the newest message on the screen, behind a warm cache. */
  shortMs: number;
  longMs: number;
  events: number;
  /** Requests that had to wait for one another, after the document. */
  deepest: number;
  /** Frames that came late while all events were scrolled through, of all of them. */
  lateShare: number;
}

const CHROMIUM = '/usr/bin/chromium';
const SHORT = 200;
const LONG = 100_000;
const TIMES = 5;
const BUILD = new URL('../../scripts/console.mjs', import.meta.url).pathname;
/** A frame of 60 a second that took longer than two. */
const LATE_MS = 34;
const SCROLL_STEPS = 120;
/** As long as an answer takes on a slow line. */
const LATENCY_MS = 300;

export const hasChromium = () => existsSync(CHROMIUM);

/** o: a session with many events beside one with few, as somebody sees them who opens them. */
export async function measureConsole(bench: Bench): Promise<Console> {
  await promisify(execFile)(process.execPath, [BUILD]);
  const browser = await openChromium();
  try {
    const events = Math.max(SHORT, Math.ceil(LONG * bench.scale));
    const short = await look(bench, browser, SHORT);
    const long = await look(bench, browser, events);
    const figures = {
      scriptKiB: long.scriptKiB,
      shortMs: short.openMs,
      longMs: long.openMs,
      events,
      deepest: long.deepest,
      lateShare: long.lateShare,
    };
    bench.say(
      'o',
      `a session of ${events} events opens in ${long.openMs.toFixed(0)} ms, of ${SHORT} in ${short.openMs.toFixed(0)}`,
    );
    return figures;
  } finally {
    await browser.close();
  }
}

async function look(bench: Bench, browser: Browser, events: number) {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startWhole(database.url);
  const api = createApi(subject.origin);
  const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  const session = String(body.data.session_id);
  await fillTalk(database, events);
  await settle(database);
  const context = await browser.newContext({
    baseURL: subject.origin,
    viewport: { width: 1280, height: 900 },
  });
  try {
    const page = await context.newPage();
    const scriptKiB = (await scriptBytes(page)) / 1_024;
    const times: number[] = [];
    for (let time = 0; time <= TIMES; time++) {
      const openMs = await open(page, session);
      // The first one fills the cache of the browser.
      if (time > 0) times.push(openMs);
    }
    const deepest = await depth(browser, subject.origin, session);
    const lateShare = await scroll(page, session);
    return { scriptKiB, openMs: percentile(times, 0.5), deepest, lateShare };
  } finally {
    await context.close();
  }
}

/** As many bytes of scripts as cross the network until the first page is whole. */
async function scriptBytes(page: Page): Promise<number> {
  await page.goto('/');
  await page.getByRole('heading', { name: 'Recent sessions' }).waitFor();
  return page.evaluate<number>(`performance.getEntriesByType('resource')
    .filter(({ name }) => name.endsWith('.js'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
}

async function open(page: Page, session: string): Promise<number> {
  await page.goto('about:blank');
  const begunAt = performance.now();
  await page.goto(`/sessions/${session}`, { waitUntil: 'commit' });
  await page.getByRole('article', { name: 'Agent says' }).last().waitFor();
  return performance.now() - begunAt;
}

/** A request counts as waiting for another when it began after that one had ended. */
const DEPTH = `(() => {
  const entries = performance.getEntriesByType('resource').filter(({ name }) => !/(theme\\.js|\\.svg)$/.test(name));
  const deep = (before) => {
    const next = entries.filter(({ startTime }) => startTime >= before);
    if (next.length === 0) return 0;
    const first = next.reduce((a, b) => (a.startTime + a.duration < b.startTime + b.duration ? a : b));
    return 1 + deep(first.startTime + first.duration);
  };
  return deep(performance.getEntriesByType('navigation')[0].responseEnd - 1);
})()`;

/** As a browser that was never here has it, on a slow line: what only begins later by chance has waited for nothing there. */
async function depth(browser: Browser, origin: string, session: string): Promise<number> {
  const context = await browser.newContext({ baseURL: origin });
  try {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    const conditions = { offline: false, latency: LATENCY_MS, downloadThroughput: -1, uploadThroughput: -1 };
    await devtools.send('Network.emulateNetworkConditions', conditions);
    await open(page, session);
    await page.getByRole('link', { name: 'Echo' }).waitFor();
    return await page.evaluate<number>(DEPTH);
  } finally {
    await context.close();
  }
}

/** Goes through the whole list of events, a screen at a time and with leaps, and looks at each frame. */
async function scroll(page: Page, session: string): Promise<number> {
  await page.goto(`/sessions/${session}?view=raw`);
  const list = page.getByRole('listbox', { name: 'Events' });
  await list.getByRole('option').first().waitFor();
  return page.evaluate<number>(`(async () => {
    const list = document.querySelector('[role=listbox]');
    const most = list.scrollHeight - list.clientHeight;
    let late = 0;
    let before = performance.now();
    for (let step = 1; step <= ${SCROLL_STEPS}; step++) {
      list.scrollTop = step % 10 === 0 ? (most * step) / ${SCROLL_STEPS} : list.scrollTop + 300;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      if (now - before > ${LATE_MS}) late++;
      before = now;
    }
    return late / ${SCROLL_STEPS};
  })()`);
}
