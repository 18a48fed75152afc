import type { Api } from '../../../support/api.ts';
import { until } from '../../../support/wait.ts';
import type { Bench } from '../../bench.ts';
import { BODY, createWebhook } from '../../fixtures/webhook.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** One response of `/metrics`. */
export interface Scrape {
  bytes: number;
  series: number;
}

interface OpenApiDocument {
  paths: Record<string, Record<string, unknown>>;
}

const LIMIT_MS = 10_000;

/** u: the metrics of one process after a webhook, a command and each route that reads. */
export async function measureScrape({ postgres, print }: Bench): Promise<Scrape> {
  await using database = await postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const { api, webhook } = await createWebhook(subject.origin);
  await api.trigger(webhook, BODY);
  const agent = await api.createAgent({ model: 'rehearsal/shell' });
  const session = await runCommand(api, agent);
  await readEveryRoute(api, { agent_id: agent, session_id: session, deployment_id: webhook.id });
  const text = await (await fetch(`${subject.origin}/metrics`)).text();
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  const scrape = { bytes: Buffer.byteLength(text), series };
  print('u', `/metrics: ${scrape.bytes} bytes, ${series} series`);
  return scrape;
}

/** Returns the id of a session in which a command has ended. */
async function runCommand(api: Api, agent: string): Promise<string> {
  const { body } = await api.post(`/agents/${agent}/conversations`, { message: '$ echo text > file' });
  const session = String(body.data.session_id);
  await until('the command has ended', async () => {
    const { body } = await api.get(`/sessions/${session}`);
    return body.data.status === 'idle';
  });
  return session;
}

/** Reads each documented resource. The identifiers in its path do not exist unless they are in `ids`. */
async function readEveryRoute({ origin }: Api, ids: Record<string, string>): Promise<void> {
  const { paths } = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApiDocument;
  for (const [path, operations] of Object.entries(paths)) {
    if (!('get' in operations)) continue;
    const named = path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? 'absent');
    const options = { redirect: 'manual', signal: AbortSignal.timeout(LIMIT_MS) } as const;
    const response = await fetch(`${origin}/api/v1${named}`, options);
    // Event streams have no end.
    await response.body?.cancel();
  }
}
