import type { Browser, Page } from 'playwright-core';
import { createApi } from '../../../support/api.ts';
import { type Bench, pause } from '../../bench.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** The page whose first load transfers the most bytes. */
export interface FirstLoad {
  page: string;
  /** Compressed bytes of the document, scripts and styles, without API responses. */
  kib: number;
}

/** A page is complete when it has requested no further file for this time. */
const QUIET_MS = 500;

/** Opens each kind of page with an empty cache. */
export async function measureFirstLoad(bench: Bench, browser: Browser): Promise<FirstLoad> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const agent = await api.createAgent();
  const { body } = await api.post(`/agents/${agent}/conversations`, { message: '## Hello\n\n`code`' });
  const session = String(body.data.session_id);
  const paths = [
    '/',
    '/sessions',
    ...['', '?view=timeline', '?view=raw', '?view=files'].map((view) => `/sessions/${session}${view}`),
    ...['/agents', '/agents/new', `/agents/${agent}`, `/agents/${agent}?tab=access`],
    ...['/assistants', '/assistants/new', '/deployments', '/deployments/new'],
    ...['/environments', '/environments/new', '/administration', '/administration?tab=audit', '/tokens'],
  ];
  let largest: FirstLoad = { page: '', kib: 0 };
  for (const path of paths) {
    const kib = (await bytesOf(browser, subject.origin + path)) / 1_024;
    const page = path.replace(session, '{session}').replace(agent, '{agent}');
    if (kib > largest.kib) largest = { page, kib };
  }
  bench.print('o', `the first load of ${largest.page} is ${largest.kib.toFixed(0)} KiB`);
  return largest;
}

async function bytesOf(browser: Browser, url: string): Promise<number> {
  const page = await browser.newPage();
  try {
    await page.goto(url);
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (let bytes = 0; ; await pause(QUIET_MS)) {
      const before = bytes;
      bytes = await transferredBytes(page);
      if (bytes === before) return bytes;
    }
  } finally {
    await page.close();
  }
}

const transferredBytes = (page: Page) =>
  page.evaluate<number>(`[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter(({ name }) => !new URL(name).pathname.startsWith('/api/'))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
