import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../../lib/db/embedded.ts';

export interface BenchDatabase extends AsyncDisposable {
  url: string;
  /** Returns the numbers of the first row. */
  queryRow(sql: string): Promise<number[]>;
  /** Runs one or more statements in one transaction. */
  run(sql: string): Promise<void>;
}

export interface BenchPostgres extends AsyncDisposable {
  version: string;
  /** Creates an empty database, so that measurements do not affect each other. */
  createDatabase(): Promise<BenchDatabase>;
  /** Returns the CPU time of all its processes; NaN where the system does not report it. */
  cpuMs(): number;
}

/** The embedded PostgreSQL of the service with its settings. */
export async function openPostgres(): Promise<BenchPostgres> {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'ahs-bench-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const server = opened.use(await startPostgres({ directory, log: () => {} }));
  const admin = await connect(server.url);
  opened.defer(() => admin.end());
  const { rows } = await admin.query<{ version: string }>(
    `select current_setting('server_version') as version`,
  );
  const stack = opened.move();
  let databaseCount = 0;
  return {
    version: rows[0]?.version ?? '',
    async createDatabase() {
      const name = `bench_${++databaseCount}`;
      await admin.query(`create database ${name}`);
      const url = new URL(server.url);
      url.pathname = name;
      const client = await connect(url.href);
      return {
        url: url.href,
        async queryRow(sql) {
          const answer = await client.query({ text: sql, rowMode: 'array' });
          return (answer.rows[0] ?? []).map(Number);
        },
        async run(sql) {
          await client.query(sql);
        },
        async [Symbol.asyncDispose]() {
          await client.end();
          await admin.query(`drop database ${name} with (force)`);
        },
      };
    },
    cpuMs: () => cpuMs(server.pid),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // The failing statement reports the error.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Milliseconds per clock tick of /proc, 10 on every Linux that runs Node. */
const TICK_MS = 10;

function cpuMs(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const ticks = [String(pid), ...children].map((one) => {
      // After the name: user and system time of the process and of its terminated children.
      const fields = readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    });
    return ticks.reduce((sum, each) => sum + each, 0) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}
