import type { Browser, BrowserContext } from 'playwright-core';
import { createApi } from '../../../support/api.ts';
import type { Bench } from '../../bench.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** Bytes that pages send and receive while nothing happens. */
export interface IdleTraffic {
  /** The page with the most traffic. */
  page: string;
  bytesPerMinute: number;
}

const SETTLE_MS = 10_000;
const DURATION_MS = 60_000;

/** Opens pages at the same time and counts their bytes, without those of their first requests. */
export async function measureIdleTraffic(bench: Bench, browser: Browser): Promise<IdleTraffic> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const agent = await api.createAgent();
  const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'Hello' });
  const paths = ['/', '/sessions', `/sessions/${body.data.session_id}`, '/agents', '/deployments'];
  const context = await browser.newContext({ baseURL: subject.origin });
  try {
    const durationMs = DURATION_MS * bench.scale;
    const traffic = await Promise.all(paths.map((path) => measurePage(context, path, durationMs)));
    return traffic.reduce((a, b) => (a.bytesPerMinute > b.bytesPerMinute ? a : b));
  } finally {
    await context.close();
  }
}

async function measurePage(context: BrowserContext, path: string, durationMs: number): Promise<IdleTraffic> {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  let bytes = 0;
  const headerBytes = (headers: Record<string, string>) =>
    Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  devtools.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
    bytes += headerBytes(headers);
  });
  devtools.on('Network.responseReceivedExtraInfo', ({ headers }) => {
    bytes += headerBytes(headers);
  });
  devtools.on('Network.dataReceived', ({ encodedDataLength, dataLength }) => {
    // Streams have no encoded length until they end.
    bytes += encodedDataLength || dataLength;
  });
  await devtools.send('Network.enable');
  await page.goto(path);
  await page.waitForTimeout(SETTLE_MS);
  bytes = 0;
  await page.waitForTimeout(durationMs);
  return { page: path.replace(/ses_\w+/, '{session}'), bytesPerMinute: (bytes * 60_000) / durationMs };
}
