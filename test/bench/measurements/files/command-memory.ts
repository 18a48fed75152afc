import { createApi } from '../../../support/api.ts';
import { type Bench, pause, within } from '../../bench.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

export interface CommandMemory {
  files: number;
  /** Largest resident memory of the process during and after the command, in bytes. */
  peak: number;
  seconds: number;
}

const FILES = 300_000;
const PER_DIRECTORY = 1_000;
const TIMEOUT_SECONDS = 3_600;
/** The command, and the delivery of its events. */
const LIMIT_MS = 2 * TIMEOUT_SECONDS * 1_000;
const LOOK_MS = 200;
const UNFINISHED = new Set(['queued', 'in_progress']);

/** p: the memory of the process while one command makes many files, until their events are in the journal. */
export async function measureCommandMemory(bench: Bench): Promise<CommandMemory> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url, undefined, {
    SERVICE_WORKSPACE_MAX_FILES: `${2 * FILES}`,
  });
  const files = Math.ceil(FILES * bench.scale);
  const begunAt = performance.now();
  await Promise.race([subject.failed, within('the command', makeFiles(subject, files), LIMIT_MS)]);
  const seconds = (performance.now() - begunAt) / 1_000;
  const [first] = await subject.usage();
  const peak = first?.usage.peak ?? Number.NaN;
  bench.print('p', `${files} files in ${seconds.toFixed(0)} s: at most ${(peak / 1e6).toFixed(0)} MB`);
  return { files, peak, seconds };
}

async function makeFiles(subject: Subject, files: number): Promise<void> {
  const api = createApi(subject.origin);
  const sandbox = { command_timeout_seconds: TIMEOUT_SECONDS };
  const created = await api.post('/admin/environments', { name: 'bench-memory', sandbox });
  const { environment_id } = created.body.data;
  const agent = await api.createAgent({ model: 'rehearsal/shell', environment_id });
  const { body } = await api.post(`/agents/${agent}/conversations`);
  const session = String(body.data.session_id);
  const script =
    `for i in $(seq 0 ${Math.ceil(files / PER_DIRECTORY) - 1}); do mkdir d$i; ` +
    `for j in $(seq ${PER_DIRECTORY}); do : > d$i/f$j; done; done`;
  const sent = await api.post(`/sessions/${session}/messages`, { content: `$ ${script}` });
  const turn = String(sent.body.data.turn_id);
  for (;;) {
    const { body: read } = await api.get(`/sessions/${session}/turns/${turn}`);
    const status = String(read.data.status);
    if (status === 'completed') break;
    if (!UNFINISHED.has(status)) throw new Error(`the turn of the command is ${status}`);
    await pause(LOOK_MS);
  }
  for (;;) {
    const { body: shown } = await api.get(`/sessions/${session}`);
    // Each file has one event.
    if (Number(shown.data.last_seq) > files) return;
    await pause(LOOK_MS);
  }
}
