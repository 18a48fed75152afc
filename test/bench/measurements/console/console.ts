import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { createApi } from '../../../support/api.ts';
import { CHROMIUM, openChromium } from '../../../support/chromium.ts';
import { type Bench, percentile, within } from '../../bench.ts';
import { fillTurns, runMaintenance } from '../../fixtures/fill.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';
import { type FirstLoad, measureFirstLoad } from './first-load.ts';
import { type IdleTraffic, measureIdleTraffic } from './idle-traffic.ts';
import { measureStreaming, type Streaming } from './streaming.ts';

/** Costs of the console in Chromium. */
export interface Console {
  firstLoad: FirstLoad;
  /** From the navigation to the display of the newest message, with a warm cache. */
  shortMs: number;
  longMs: number;
  events: number;
  /** Length of the longest chain of dependent requests after the document. */
  deepest: number;
  /** Share of late frames while scrolling through all events. */
  lateShare: number;
  /** From a link to an event in the middle, or to the first one, of the long session until it is marked in the chat. */
  middleMs: number;
  beginningMs: number;
  streaming: Streaming;
  idle: IdleTraffic;
}

const SHORT = 200;
const LONG = 100_000;
const TIMES = 5;
const BUILD = new URL('../../../../scripts/console.mjs', import.meta.url).pathname;
/** A frame that takes longer is late: two frame times at 60 Hz. */
const LATE_FRAME_MS = 34;
const SCROLL_STEPS = 120;
/** Response latency of a slow connection. */
const LATENCY_MS = 300;

export const hasChromium = () => existsSync(CHROMIUM);

/** o: opening a session with many events, compared with one with few. */
export async function measureConsole(bench: Bench): Promise<Console> {
  await promisify(execFile)(process.execPath, [BUILD]);
  const browser = await openChromium();
  try {
    const events = Math.max(SHORT, Math.ceil(LONG * bench.scale));
    const short = await within('opening a short session', measureSession(bench, browser, SHORT));
    const long = await within('opening a long session', measureSession(bench, browser, events));
    const figures = {
      firstLoad: await within('the first load', measureFirstLoad(bench, browser)),
      shortMs: short.openMs,
      longMs: long.openMs,
      events,
      deepest: long.deepest,
      lateShare: long.lateShare,
      middleMs: long.middleMs,
      beginningMs: long.beginningMs,
      streaming: await within('streaming', measureStreaming(bench, browser)),
      idle: await within('idle traffic', measureIdleTraffic(bench, browser)),
    };
    bench.print(
      'o',
      `a session of ${events} events opens in ${long.openMs.toFixed(0)} ms, of ${SHORT} in ${short.openMs.toFixed(0)}`,
    );
    return figures;
  } finally {
    await browser.close();
  }
}

async function measureSession(bench: Bench, browser: Browser, events: number) {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  const session = String(body.data.session_id);
  await fillTurns(database, events);
  await runMaintenance(database);
  const context = await browser.newContext({
    baseURL: subject.origin,
    viewport: { width: 1280, height: 900 },
  });
  try {
    const page = await context.newPage();
    const times: number[] = [];
    for (let time = 0; time <= TIMES; time++) {
      const openMs = await open(page, session);
      // The first navigation fills the browser cache.
      if (time > 0) times.push(openMs);
    }
    const deepest = await depth(browser, subject.origin, session);
    const lateShare = await scroll(page, session);
    const middleMs = await openEvent(page, session, Math.ceil(events / 2));
    const beginningMs = await openEvent(page, session, 1);
    return { openMs: percentile(times, 0.5), deepest, lateShare, middleMs, beginningMs };
  } finally {
    await context.close();
  }
}

async function open(page: Page, session: string): Promise<number> {
  await page.goto('about:blank');
  const begunAt = performance.now();
  await page.goto(`/sessions/${session}`, { waitUntil: 'commit' });
  await page.getByRole('article', { name: 'Message from Agent' }).last().waitFor();
  return performance.now() - begunAt;
}

/** Returns the median time to the display of the marked event of a link. */
async function openEvent(page: Page, session: string, seq: number): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    await page.goto('about:blank');
    const begunAt = performance.now();
    await page.goto(`/sessions/${session}?event=${seq}`, { waitUntil: 'commit' });
    await page.locator('[aria-current=true][data-seq]').waitFor();
    times.push(performance.now() - begunAt);
  }
  return percentile(times, 0.5);
}

/** A request depends on another one if it began after the other had ended. */
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

/** Measured with an empty cache on a slow connection, so that independent requests overlap and are not counted as dependent. */
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

/** Scrolls through the whole event list, by screens and by jumps, and measures each frame. */
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
      if (now - before > ${LATE_FRAME_MS}) late++;
      before = now;
    }
    return late / ${SCROLL_STEPS};
  })()`);
}
