import { Browser } from '../../../edge/access/browser.ts';
import { type Api, createApi } from '../../../support/api.ts';
import { CLIENT_ID, IdentityProvider } from '../../../support/identity-provider.ts';
import { type Bench, percentile, within } from '../../bench.ts';
import { runMaintenance } from '../../fixtures/fill.ts';
import { fillSessionsWithMetadata, indexMetadata } from '../../fixtures/fill-metadata.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';
import { METADATA_LISTS } from './metadata-lists.ts';
import { type MetadataWrite, measureMetadataWrites } from './metadata-writes.ts';

/** Milliseconds. */
export interface Metadata {
  lists: { what: string; p50Ms: number; p95Ms: number; plainMs: number }[];
  writes: MetadataWrite[];
  sessions: number;
  /** How long the migration takes that indexes the sessions. */
  migrationMs: number;
}

/** The service with separate users, so that row-level security applies. */
export interface MetadataSystem {
  failed: Promise<never>;
  /** A user who owns half of the sessions, and an administrator. */
  owner: Api;
  administrator: Api;
  agent: string;
}

const SESSIONS = 1_000_000;
const WARM_UPS = 6;
const TIMES = 40;

/** h': pages of lists filtered by metadata, and writes of metadata beside those without its table. */
export async function measureMetadata(bench: Bench): Promise<Metadata> {
  const sessions = Math.ceil(SESSIONS * bench.scale);
  await using resources = new AsyncDisposableStack();
  const provider = resources.use(await openProvider());
  const indexed = await open(bench, resources, provider);
  await fillSessionsWithMetadata(indexed.database, sessions);
  const migrationMs = await timed(() => indexMetadata(indexed.database));
  await runMaintenance(indexed.database);
  const seconds = (migrationMs / 1_000).toFixed(0);
  bench.print(
    "h'",
    `${sessions} sessions with four members each; the migration indexes them in ${seconds} s`,
  );
  const lists = await measureLists(bench, indexed.system, sessions);
  const bare = await open(bench, resources, provider);
  await fillSessionsWithMetadata(bare.database, sessions);
  await withoutTable(bare.database);
  await runMaintenance(bare.database);
  return {
    lists,
    writes: await measureMetadataWrites(bench, indexed.system, bare.system),
    sessions,
    migrationMs,
  };
}

export function openProvider(): Promise<IdentityProvider> {
  return IdentityProvider.open({
    accounts: { bob: { name: 'Bob' }, dave: { name: 'Dave', groups: ['operators'] } },
  });
}

async function open({ postgres }: Bench, resources: AsyncDisposableStack, provider: IdentityProvider) {
  const database = resources.use(await postgres.createDatabase());
  const system = await openMetadataSystem(database.url, resources, provider);
  return { database, system };
}

export async function openMetadataSystem(
  databaseUrl: string,
  resources: AsyncDisposableStack,
  provider: IdentityProvider,
): Promise<MetadataSystem> {
  const subject = resources.use(
    await startSingleProcess(databaseUrl, undefined, {
      SERVICE_AUTH_MODE: 'oidc',
      SERVICE_OIDC_ISSUER: provider.issuer,
      SERVICE_OIDC_CLIENT_ID: CLIENT_ID,
      SERVICE_OIDC_ADMINISTRATOR_GROUPS: 'operators',
    }),
  );
  provider.setOrigin(subject.origin);
  const clientOf = async (name: string, scopes: string[]) => {
    const browser = new Browser(subject.origin);
    await browser.logIn(provider, name);
    const { value } = await browser.token(scopes);
    return createApi(subject.origin, { authorization: `Bearer ${value}` });
  };
  const owner = await clientOf('bob', ['read', 'write']);
  const administrator = await clientOf('dave', ['read', 'write', 'admin']);
  const agent = await owner.createAgent();
  await owner.post(`/agents/${agent}/conversations`);
  return { failed: subject.failed, owner, administrator, agent };
}

/** Removes what the filter adds to the tables of sessions. */
export const withoutTable = (database: Pick<BenchDatabase, 'run'>) =>
  database.run(`drop trigger index_new_metadata on sessions.sessions;
    drop trigger index_changed_metadata on sessions.sessions; truncate sessions.session_metadata`);

export async function measureLists(
  bench: Pick<Bench, 'print'>,
  system: MetadataSystem,
  sessions: number,
): Promise<Metadata['lists']> {
  const measured: Metadata['lists'] = [];
  const readers = {
    owner: [system.owner, '/sessions'],
    administrator: [system.administrator, '/admin/sessions'],
  } as const;
  for (const [as, [api, path]] of Object.entries(readers)) {
    const get = async (query: string) => {
      const answer = within('a list', api.get(`${path}?limit=50${query}`));
      const { status, body } = await Promise.race([system.failed, answer]);
      if (status !== 200) throw new Error(`${path}?${query} was answered with ${status}`);
      return body;
    };
    const plain = await timesOf(() => timed(() => get('')));
    const plainMs = percentile(plain, 0.5);
    for (const [filter, { queryOf, isEmpty = false }] of Object.entries(METADATA_LISTS)) {
      let found = 0;
      const following: number[] = [];
      const first = await timesOf(async (time) => {
        const query = queryOf(time, sessions);
        const begunAt = performance.now();
        const { data, page } = await get(query);
        const ms = performance.now() - begunAt;
        found += data.length;
        const cursor = page?.next_cursor;
        if (cursor) following.push(await timed(() => get(`${query}&cursor=${cursor}`)));
        return ms;
      });
      if (isEmpty !== (found === 0)) throw new Error(`${filter} has found ${found} sessions`);
      const pages = {
        [filter]: first,
        ...(following.length >= TIMES && { [`${filter}, next page`]: following.slice(-TIMES) }),
      };
      for (const [what, times] of Object.entries(pages)) {
        const result = {
          what: `${as}: ${what}`,
          p50Ms: percentile(times, 0.5),
          p95Ms: percentile(times, 0.95),
          plainMs,
        };
        bench.print(
          "h'",
          `${result.what}: p50 ${result.p50Ms.toFixed(1)} ms, p95 ${result.p95Ms.toFixed(1)} ms`,
        );
        measured.push(result);
      }
    }
  }
  return measured;
}

/** Times after the warm-up, in which PostgreSQL chooses the generic plans of the statements. */
async function timesOf(measure: (time: number) => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let time = 0; time < WARM_UPS + TIMES; time++) times.push(await measure(time));
  return times.slice(WARM_UPS);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
}
