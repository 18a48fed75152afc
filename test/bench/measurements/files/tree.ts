import { type Api, createApi } from '../../../support/api.ts';
import { type Bench, percentile } from '../../bench.ts';
import { runMaintenance } from '../../fixtures/fill.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

export interface Tree {
  /** Number of files of the large workspace. */
  files: number;
  /** Uploaded small files per second. */
  perSecond: number;
  operations: { what: string; smallMs: number; largeMs: number }[];
}

const SMALL = 1_000;
const LARGE = 100_000;
const PER_FORM = 5_000;
const PER_DIRECTORY = 100;
const PAGE = 100;
const WARM_UPS = 3;
/** A fork of the session also copies its journal, which has one event per file. */
export const SESSION_FORK = 'fork the session and its journal';
const TIMES = 20;

/** A session with many small files. */
interface FilledWorkspace {
  api: Api;
  session: string;
  files: number;
  /** Cursor of a page in the middle. */
  cursor: string;
  seq: number;
}

/** May return its duration in milliseconds if it differs from the response time. */
type Operation = (workspace: FilledWorkspace) => Promise<unknown>;

const OPERATIONS: Record<string, Operation> = {
  'list, first page': (workspace) => page(workspace, 'recursive=true'),
  'list, a page in the middle': (workspace) => page(workspace, `recursive=true&cursor=${workspace.cursor}`),
  'list, one directory': (workspace) => page(workspace, `path=${directoryOf(workspace.files / 2)}`),
  'read a small file': async ({ api, session, files }) => {
    const path = pathOf(Math.floor(files / 3));
    const response = await fetch(`${api.origin}/api/v1/sessions/${session}/files/content?path=${path}`);
    if ((await response.text()) !== path) throw new Error(`${path} was answered with ${response.status}`);
  },
  'replace one file': async ({ api, session, files }) => {
    const path = pathOf(Math.floor(files / 3));
    const url = `${api.origin}/api/v1/sessions/${session}/files/content?path=${path}`;
    const response = await fetch(url, { method: 'PUT', body: path });
    await response.text();
    if (response.status !== 201) throw new Error(`a file was answered with ${response.status}`);
  },
  'fork the workspace': async (workspace) => {
    const before = await forkSeconds(workspace);
    await fork(workspace);
    return ((await forkSeconds(workspace)) - before) * 1_000;
  },
  [SESSION_FORK]: fork,
};

/** l: operations on a large workspace compared with a small one, alternating between both. */
export async function measureTree(bench: Bench): Promise<Tree> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const files = Math.max(SMALL, Math.ceil(LARGE * bench.scale));
  const small = await fillWorkspace(subject, SMALL);
  const begunAt = performance.now();
  const large = await fillWorkspace(subject, files);
  const perSecond = files / ((performance.now() - begunAt) / 1_000);
  bench.print('l', `${files} files, uploaded ${PER_FORM} at a time: ${perSecond.toFixed(0)}/s`);
  await runMaintenance(database);
  const operations: Tree['operations'] = [];
  for (const [what, question] of Object.entries(OPERATIONS)) {
    const [smallMs = 0, largeMs = 0] = await compare(subject, [small, large], question);
    bench.print('l', `${what}: ${smallMs.toFixed(2)} ms, ${largeMs.toFixed(2)} ms in the large one`);
    operations.push({ what, smallMs, largeMs });
  }
  return { files, perSecond, operations };
}

const directoryOf = (number: number) => `d${Math.floor(number / PER_DIRECTORY)}`;
const pathOf = (number: number) => `${directoryOf(number)}/f${number}`;

async function fillWorkspace(subject: Subject, files: number): Promise<FilledWorkspace> {
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
  const workspace = { api, session, files, seq: Number(shown.data.last_seq), cursor: '' };
  return { ...workspace, cursor: await cursorOf(workspace) };
}

/** Pages through half of the list. */
async function cursorOf({ api, session, files }: FilledWorkspace): Promise<string> {
  let cursor = '';
  for (let turned = 0; turned < files / 2; turned += PAGE) {
    const after = cursor ? `&cursor=${cursor}` : '';
    const { body } = await api.get(`/sessions/${session}/files?recursive=true&limit=${PAGE}${after}`);
    cursor = body.page?.next_cursor ?? '';
  }
  return cursor;
}

async function fork({ api, session, seq }: FilledWorkspace): Promise<void> {
  const { status } = await api.post(`/sessions/${session}/fork`, { after_seq: seq });
  if (status !== 201) throw new Error(`a fork was answered with ${status}`);
}

/** Returns the total time that `files` has spent on forks. */
async function forkSeconds({ api }: FilledWorkspace): Promise<number> {
  const metrics = await (await fetch(`${api.origin}/metrics`)).text();
  const sum = /ahs_rpc_duration_seconds_sum\{[^}]*method="forkWorkspace"[^}]*\} ([\d.e-]+)/.exec(metrics);
  return Number(sum?.[1] ?? 0);
}

async function page({ api, session }: FilledWorkspace, query: string): Promise<void> {
  const { status, body } = await api.get(`/sessions/${session}/files?limit=${PAGE}&${query}`);
  if (status !== 200 || body.data.length !== PAGE)
    throw new Error(`a page was answered with ${status} and ${body.data?.length} entries`);
}

async function compare(
  { failed }: Subject,
  workspaces: FilledWorkspace[],
  operation: Operation,
): Promise<number[]> {
  const times = workspaces.map((): number[] => []);
  for (let time = -WARM_UPS; time < TIMES; time++) {
    for (const [index, workspace] of workspaces.entries()) {
      const begunAt = performance.now();
      const result = await Promise.race([failed, operation(workspace)]);
      if (time >= 0) times[index]?.push(typeof result === 'number' ? result : performance.now() - begunAt);
    }
  }
  return times.map((one) => percentile(one, 0.5));
}
