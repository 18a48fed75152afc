import { type Api, createApi } from '../support/api.ts';
import { type Bench, percentile } from './bench.ts';
import { settle } from './fill.ts';
import type { Subject } from './subject.ts';
import { startWhole } from './subjects.ts';

export interface Tree {
  /** Of the large workspace. */
  files: number;
  /** How many small files a second were uploaded. */
  perSecond: number;
  questions: { what: string; smallMs: number; largeMs: number }[];
}

const SMALL = 1_000;
const LARGE = 100_000;
const PER_FORM = 5_000;
const PER_DIRECTORY = 100;
const PAGE = 100;
const WARM_UPS = 3;
/** With it goes the journal, in which each file has an event: that grows. */
export const WHOLE_FORK = 'fork the session, its journal too';
const TIMES = 20;

/** A session with so many small files. */
interface Place {
  api: Api;
  session: string;
  files: number;
  /** Of a page in the middle. */
  cursor: string;
  seq: number;
}

/** It may tell how long it took, in milliseconds, where that is not the time until it is answered. */
type Question = (place: Place) => Promise<unknown>;

const QUESTIONS: Record<string, Question> = {
  'list, first page': (place) => page(place, 'recursive=true'),
  'list, a page in the middle': (place) => page(place, `recursive=true&cursor=${place.cursor}`),
  'list, one directory': (place) => page(place, `path=${directoryOf(place.files / 2)}`),
  'read a small file': async ({ api, session, files }) => {
    const path = pathOf(Math.floor(files / 3));
    const response = await fetch(`${api.origin}/api/v1/sessions/${session}/files/content?path=${path}`);
    if ((await response.text()) !== path) throw new Error(`${path} was answered with ${response.status}`);
  },
  'replace one file': async ({ api, session, files }) => {
    const path = pathOf(Math.floor(files / 3));
    const url = `${api.origin}/api/v1/sessions/${session}/files?path=${path}`;
    const response = await fetch(url, { method: 'POST', body: path });
    await response.text();
    if (response.status !== 201) throw new Error(`a file was answered with ${response.status}`);
  },
  'fork the workspace': async (place) => {
    const before = await forkSeconds(place);
    await fork(place);
    return ((await forkSeconds(place)) - before) * 1_000;
  },
  [WHOLE_FORK]: fork,
};

/** l: whether what is asked of a large workspace costs more than of a small one, in turns on both. */
export async function measureTree(bench: Bench): Promise<Tree> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startWhole(database.url);
  const files = Math.max(SMALL, Math.ceil(LARGE * bench.scale));
  const small = await furnish(subject, SMALL);
  const begunAt = performance.now();
  const large = await furnish(subject, files);
  const perSecond = files / ((performance.now() - begunAt) / 1_000);
  bench.say('l', `${files} files, uploaded ${PER_FORM} at a time: ${perSecond.toFixed(0)}/s`);
  await settle(database);
  const questions: Tree['questions'] = [];
  for (const [what, question] of Object.entries(QUESTIONS)) {
    const [smallMs = 0, largeMs = 0] = await compare(subject, [small, large], question);
    bench.say('l', `${what}: ${smallMs.toFixed(2)} ms, ${largeMs.toFixed(2)} ms in the large one`);
    questions.push({ what, smallMs, largeMs });
  }
  return { files, perSecond, questions };
}

const directoryOf = (number: number) => `d${Math.floor(number / PER_DIRECTORY)}`;
const pathOf = (number: number) => `${directoryOf(number)}/f${number}`;

async function furnish(subject: Subject, files: number): Promise<Place> {
  const api = createApi(subject.origin);
  const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  const session = String(body.data.session_id);
  for (let first = 0; first < files; first += PER_FORM) {
    const form = new FormData();
    form.append('path', '');
    for (let number = first; number < Math.min(files, first + PER_FORM); number++)
      form.append('files', new File([pathOf(number)], pathOf(number)));
    const url = `${api.origin}/api/v1/sessions/${session}/files`;
    const response = await Promise.race([subject.failed, fetch(url, { method: 'POST', body: form })]);
    if (response.status !== 201) throw new Error(`files were answered with ${response.status}`);
    await response.body?.cancel();
  }
  const { body: shown } = await api.get(`/sessions/${session}`);
  const place = { api, session, files, seq: Number(shown.data.last_seq), cursor: '' };
  return { ...place, cursor: await cursorOf(place) };
}

/** Half of all pages are turned for it. */
async function cursorOf({ api, session, files }: Place): Promise<string> {
  let cursor = '';
  for (let turned = 0; turned < files / 2; turned += PAGE) {
    const after = cursor ? `&cursor=${cursor}` : '';
    const { body } = await api.get(`/sessions/${session}/files?recursive=true&limit=${PAGE}${after}`);
    cursor = body.page?.next_cursor ?? '';
  }
  return cursor;
}

async function fork({ api, session, seq }: Place): Promise<void> {
  const { status } = await api.post(`/sessions/${session}/fork`, { after_seq: seq });
  if (status !== 201) throw new Error(`a fork was answered with ${status}`);
}

/** How long the service of files has worked on forks so far. */
async function forkSeconds({ api }: Place): Promise<number> {
  const metrics = await (await fetch(`${api.origin}/metrics`)).text();
  const sum = /ahs_rpc_duration_seconds_sum\{[^}]*method="forkWorkspace"[^}]*\} ([\d.e-]+)/.exec(metrics);
  return Number(sum?.[1] ?? 0);
}

async function page({ api, session }: Place, query: string): Promise<void> {
  const { status, body } = await api.get(`/sessions/${session}/files?limit=${PAGE}&${query}`);
  if (status !== 200 || body.data.length !== PAGE)
    throw new Error(`a page was answered with ${status} and ${body.data?.length} entries`);
}

async function compare({ failed }: Subject, places: Place[], question: Question): Promise<number[]> {
  const times = places.map((): number[] => []);
  for (let time = -WARM_UPS; time < TIMES; time++) {
    for (const [index, place] of places.entries()) {
      const begunAt = performance.now();
      const told = await Promise.race([failed, question(place)]);
      if (time >= 0) times[index]?.push(typeof told === 'number' ? told : performance.now() - begunAt);
    }
  }
  return times.map((one) => percentile(one, 0.5));
}
