import { readFileSync } from 'node:fs';
import pg from 'pg';
import { createApi, signed } from '../support/api.ts';
import { until } from '../support/wait.ts';
import { runLoad, type Subject, startSubject, usageOf } from './processes.ts';

const ROUNDS = 3;
const CONNECTIONS = 32;
const WARM_UP_MS = 2_000;
const SECRET = 'the secret of the bare server';
/** About 1 KiB, as a sender would write it. */
const BODY = JSON.stringify({
  event: 'build.finished',
  items: Array.from({ length: 22 }, (_, i) => ({ id: i, name: `item number ${i}`, ok: true })),
});

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Webhooks accepted per second, beside the bare limit on the same database in the same run. */
export async function benchTrigger(databaseUrl: string, durationMs: number): Promise<void> {
  const results = { bare: [] as number[], accepted: [] as number[], finished: [] as number[] };
  for (let round = 1; round <= ROUNDS; round++) {
    results.bare.push(await bare(databaseUrl, durationMs));
    results.accepted.push(await accepted(databaseUrl, durationMs));
    results.finished.push(await finished(databaseUrl, durationMs));
  }
  const [b, a, f] = [median(results.bare), median(results.accepted), median(results.finished)];
  console.log(`\n(b)  bare limit            ${b.toFixed(0)}/s`);
  console.log(`(a)  accepted              ${a.toFixed(0)}/s   a/b  ${(a / b).toFixed(2)}`);
  console.log(`(a') accepted and finished ${f.toFixed(0)}/s   a'/b ${(f / b).toFixed(2)}`);
}

async function bare(databaseUrl: string, durationMs: number): Promise<number> {
  await using subject = await startSubject('bare.ts', [databaseUrl, SECRET]);
  const figures = await runLoad(jobFor(subject, '/', SECRET, durationMs));
  report('b ', figures);
  return figures.perSecond;
}

async function accepted(databaseUrl: string, durationMs: number): Promise<number> {
  await using subject = await startSubject('system.ts', [databaseUrl, '0']);
  const { path, secret } = await webhookOf(subject);
  const before = await usageOf(subject);
  const postgresBefore = postgresCpuMs();
  const figures = await runLoad(jobFor(subject, path, secret, durationMs));
  const after = await usageOf(subject);
  report('a ', figures);
  const requests = figures.perSecond * ((durationMs + WARM_UP_MS) / 1_000);
  console.log(
    `     CPU per request: service ${(((after.cpuMs - before.cpuMs) / requests) * 1_000).toFixed(0)} µs, ` +
      `PostgreSQL ${(((postgresCpuMs() - postgresBefore) / requests) * 1_000).toFixed(0)} µs; ${(after.rss / 1e6).toFixed(0)} MB`,
  );
  const single = await runLoad({ ...jobFor(subject, path, secret, 1_000), connections: 1, warmUpMs: 500 });
  report('a, one connection', single);
  await clearQueue(databaseUrl);
  return figures.perSecond;
}

/** Everything accepted is also run to its end; what is left in the queue when the senders stop counts against it. */
async function finished(databaseUrl: string, durationMs: number): Promise<number> {
  await using subject = await startSubject('system.ts', [databaseUrl, '64']);
  const { path, secret } = await webhookOf(subject);
  const finishedBefore = await turnsFinished(databaseUrl);
  const startedAt = performance.now();
  const figures = await runLoad(jobFor(subject, path, secret, durationMs));
  const done = (await turnsFinished(databaseUrl)) - finishedBefore;
  const perSecond = done / ((performance.now() - startedAt) / 1_000);
  const backlog = await queueLength(databaseUrl);
  report("a'", figures);
  console.log(`     finished ${perSecond.toFixed(0)}/s, backlog ${backlog}`);
  await until('the queue is empty', async () => (await queueLength(databaseUrl)) === 0, 300_000);
  return perSecond;
}

function jobFor({ port }: Subject, path: string, secret: string, durationMs: number) {
  const { 'X-WEBHOOK-TIMESTAMP': timestamp, 'X-WEBHOOK-SIGNATURE': signature } = signed(secret, BODY);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(BODY)}`,
    `X-WEBHOOK-TIMESTAMP: ${timestamp}`,
    `X-WEBHOOK-SIGNATURE: ${signature}`,
  ];
  return {
    port,
    connections: CONNECTIONS,
    warmUpMs: WARM_UP_MS,
    durationMs,
    requests: [`${head.join('\r\n')}\r\n\r\n${BODY}`],
  };
}

async function webhookOf({ port }: Subject): Promise<{ path: string; secret: string }> {
  const api = createApi(`http://127.0.0.1:${port}`);
  const { url, secret } = await api.createWebhook(await api.createAgent());
  return { path: new URL(url).pathname, secret };
}

function report(
  name: string,
  { perSecond, p50Ms, p99Ms, failures }: Awaited<ReturnType<typeof runLoad>>,
): void {
  console.log(
    `${name}   ${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${failures} failures`,
  );
}

async function ask(databaseUrl: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ count: string }>(sql);
  await client.end();
  return Number(rows[0]?.count ?? 0);
}

const turnsFinished = (url: string) =>
  ask(url, `select count(*) from sessions.turns where finished_at is not null`);
const queueLength = (url: string) =>
  ask(url, `select count(*) from sessions.turns where status in ('queued', 'in_progress')`);
/** What no runner was there for must not be run in the next round. */
const clearQueue = (url: string) =>
  ask(
    url,
    `with gone as (delete from sessions.turns where status = 'queued' returning 1) select count(*) from gone`,
  );

/** CPU time of all PostgreSQL processes of this machine's bench server, children that have ended included. */
let postmasterPid = 0;
export function watchPostgres(pid: number): void {
  postmasterPid = pid;
}

function postgresCpuMs(): number {
  try {
    const children = readFileSync(`/proc/${postmasterPid}/task/${postmasterPid}/children`, 'utf8')
      .trim()
      .split(' ');
    const ticks = [String(postmasterPid), ...children].map((pid) => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
    });
    return ticks.reduce((sum, each) => sum + each, 0) * 10;
  } catch {
    return Number.NaN;
  }
}
