import { createApi } from '../../../support/api.ts';
import type { Bench } from '../../bench.ts';
import { createMeter } from '../../subjects/meter.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startBareFiles, startSingleProcess } from '../../subjects/subjects.ts';
import type { TransferFigures, TransferJob } from '../../workers/transfer-worker.ts';
import { startWorker } from '../../workers/worker.ts';

/** MB/s (10⁶ bytes). */
export interface Rates {
  up: number;
  down: number;
}

export interface Transfers {
  service: Rates;
  bare: Rates;
}

const MIB = 1024 * 1024;
/** The largest permitted response. */
const FILE_BYTES = 64 * MIB;
const FILES = 24;
const AT_ONCE = 4;
const WARM_UPS = 2;
const TIMEOUT_MS = 300_000;

/** i, j: upload and download through the service, compared with node:http that hashes to disk. */
export async function measureTransfers(bench: Bench): Promise<Transfers> {
  return { bare: await measureBare(bench), service: await measureService(bench) };
}

async function measureBare(bench: Bench): Promise<Rates> {
  await using subject = await startBareFiles();
  return await measure(bench, subject, 'bare node:http', '/');
}

async function measureService(bench: Bench): Promise<Rates> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const files = await filesOf(subject);
  return await measure(bench, subject, 'the service', `${files}/content`);
}

/** Creates a session and returns the path of its files. */
export async function filesOf({ origin }: Pick<Subject, 'origin'>): Promise<string> {
  const api = createApi(origin);
  const { body, status } = await api.post(`/agents/${await api.createAgent()}/conversations`);
  if (status !== 201) throw new Error(`a conversation was answered with ${status}`);
  return `/api/v1/sessions/${body.data.session_id}/files`;
}

async function measure(bench: Bench, subject: Subject, who: string, target: string): Promise<Rates> {
  const files = Math.max(AT_ONCE, Math.ceil(FILES * bench.scale));
  const rates: Rates = { up: Number.NaN, down: Number.NaN };
  for (const direction of ['up', 'down'] as const) {
    const job = { direction, target, bytesEach: FILE_BYTES, atOnce: AT_ONCE };
    await transfer(subject, { ...job, first: 0, files: WARM_UPS });
    const meter = createMeter(bench, subject);
    await meter.begin();
    const { ms, cpuMs } = await transfer(subject, {
      ...job,
      first: direction === 'up' ? WARM_UPS : 0,
      files,
    });
    const megabytes = (files * FILE_BYTES) / 1e6;
    rates[direction] = megabytes / (ms / 1_000);
    const rate = `${who}: ${rates[direction].toFixed(0)} MB/s`;
    const own = ((cpuMs / megabytes) * 1_000).toFixed(0);
    const costs = await meter.end(megabytes, 'MB');
    bench.print(direction === 'up' ? 'i' : 'j', `${rate} (the client spends ${own} µs a MB)\n${costs}`);
  }
  return rates;
}

export async function transfer(subject: Subject, job: Omit<TransferJob, 'port'>): Promise<TransferFigures> {
  const port = Number(new URL(subject.origin).port);
  const limits = { timeoutMs: TIMEOUT_MS, failed: subject.failed };
  await using worker = startWorker<TransferFigures>('transfer-worker.ts', { port, ...job }, limits);
  return await worker.figures;
}
