import type { Browser, Page } from 'playwright-core';
import { type Api, createApi } from '../../../support/api.ts';
import type { Bench } from '../../bench.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** Frames per second while an answer streams. */
export interface Streaming {
  characters: number;
  /** In a page that only receives the events. */
  bareFps: number;
  consoleFps: number;
}

const CHARACTERS = 100_000;
const CHUNK_CHARACTERS = 100;
const CHUNK_DELAY_MS = 10;
/** Typical Markdown of about 250 characters: a heading, a paragraph, a list and a code block. */
const BLOCKS = [
  '## Results of the run',
  'All **tests** of the package passed. The `build` took longer than last week, see the [log](https://example.com/log).',
  '- the first point\n- the second point, which is a little longer\n- the third point',
  '```ts\nconst total = values.reduce((sum, value) => sum + value, 0);\n```',
].join('\n\n');

const COUNT_TIMEOUT_MS = 120_000;

/** Counts frames until `isOver()` of the page returns true. Returns frames per second. */
const COUNT_FRAMES = `(async () => {
  const begunAt = performance.now();
  let frames = 0;
  while (!isOver()) {
    await new Promise(requestAnimationFrame);
    frames++;
    if (performance.now() - begunAt > ${COUNT_TIMEOUT_MS}) throw new Error('the page did not show the end of the turn');
  }
  return (frames * 1_000) / (performance.now() - begunAt);
})()`;

/** Streams a long answer to the console and to a bare page, one after the other. */
export async function measureStreaming(bench: Bench, browser: Browser): Promise<Streaming> {
  const characters = Math.max(1_000, Math.ceil(CHARACTERS * bench.scale));
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const agent = await createStreamingAgent(api, characters);
  // The bare page runs in a page of the API, whose policy would block its event source.
  const context = await browser.newContext({ baseURL: subject.origin, bypassCSP: true });
  try {
    const page = await context.newPage();
    const bareFps = await countInBarePage(page, api, agent);
    const consoleFps = await countInConsole(page, api, agent);
    return { characters, bareFps, consoleFps };
  } finally {
    await context.close();
  }
}

function createStreamingAgent(api: Api, characters: number): Promise<string> {
  const text = `${BLOCKS}\n\n`.repeat(Math.ceil(characters / BLOCKS.length)).slice(0, characters);
  const step = { text, chunk_chars: CHUNK_CHARACTERS, delay_ms: CHUNK_DELAY_MS };
  return api.createAgent({ model: 'rehearsal/script', model_options: { steps: [step] } });
}

async function beginConversation(api: Api, agent: string): Promise<string> {
  const { body } = await api.post(`/agents/${agent}/conversations`);
  return String(body.data.session_id);
}

async function countInBarePage(page: Page, api: Api, agent: string): Promise<number> {
  const session = await beginConversation(api, agent);
  await page.goto('/livez');
  await page.evaluate(`
    globalThis.ended = false;
    const events = new EventSource('/api/v1/sessions/${session}/events/stream');
    events.addEventListener('turn.completed', () => { ended = true; events.close(); });
    globalThis.isOver = () => ended;`);
  return countFrames(page, () => api.post(`/sessions/${session}/messages`, { content: 'Go' }));
}

async function countInConsole(page: Page, api: Api, agent: string): Promise<number> {
  const session = await beginConversation(api, agent);
  await page.goto(`/sessions/${session}`);
  await page.getByRole('textbox').first().waitFor();
  await page.evaluate(`globalThis.isOver = () =>
    [...document.querySelectorAll('[title="Show event"]')].some(({ textContent }) => textContent.startsWith('Turn completed'))`);
  return countFrames(page, () => api.post(`/sessions/${session}/messages`, { content: 'Go' }));
}

async function countFrames(page: Page, begin: () => Promise<unknown>): Promise<number> {
  const [fps] = await Promise.all([page.evaluate<number>(COUNT_FRAMES), begin()]);
  return fps;
}
