/**
 * Compares the response times for ids of another user with those for absent ids: `node test/bench/measurements/absent-ids.ts [requests]`.
 * Prints Welch's t of each request. |t| above 4.5 means that the response time reveals whether an id exists.
 */
import { randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { systemClock } from '../../../lib/clock.ts';
import { createIds } from '../../../lib/ids.ts';
import { Browser } from '../../edge/access/browser.ts';
import { CLIENT_ID, IdentityProvider } from '../../support/identity-provider.ts';
import { openPostgres } from '../subjects/postgres.ts';
import { startSingleProcess } from '../subjects/subjects.ts';

const REQUESTS = Number(process.argv[2] ?? 2_000);
const WARM_UP = 300;
const SESSIONS = 20;
const newId = createIds(systemClock);

/** A request that names a session. */
interface Probe {
  name: string;
  method: string;
  path: (sessionId: string) => string;
  body?: string;
}

const PROBES: readonly Probe[] = [
  { name: 'session', method: 'GET', path: (id) => `/sessions/${id}` },
  { name: 'turns', method: 'GET', path: (id) => `/sessions/${id}/turns` },
  { name: 'files', method: 'GET', path: (id) => `/sessions/${id}/files` },
  { name: 'file content', method: 'GET', path: (id) => `/sessions/${id}/files/content?path=a` },
  { name: 'approvals', method: 'GET', path: (id) => `/sessions/${id}/approvals` },
  {
    name: 'decide approval',
    method: 'POST',
    path: (id) => `/sessions/${id}/approvals/${newId('apr')}`,
    body: '{"decision": "allow"}',
  },
  { name: 'rename session', method: 'PATCH', path: (id) => `/sessions/${id}`, body: '{"title": "A"}' },
];

await using stack = new AsyncDisposableStack();
const postgres = stack.use(await openPostgres());
const database = stack.use(await postgres.createDatabase());
const accounts = { bob: { name: 'Bob' }, carol: { name: 'Carol' } };
const provider = stack.use(await IdentityProvider.open({ accounts }));
const subject = stack.use(
  await startSingleProcess(database.url, undefined, {
    SERVICE_AUTH_MODE: 'oidc',
    SERVICE_OIDC_ISSUER: provider.issuer,
    SERVICE_OIDC_CLIENT_ID: CLIENT_ID,
    SERVICE_OIDC_ADMINISTRATOR_GROUPS: 'operators',
  }),
);
provider.setOrigin(subject.origin);
const [bob, carol] = [await logIn('bob'), await logIn('carol')];
const ofPrivateAgent = await createSessions(bob);
const ofPublicAgent = await createSessions(bob, { visibility: 'public' });
await createSessions(carol);
const headers = { authorization: `Bearer ${(await carol.token(['read', 'write'])).value}` };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
stack.defer(() => agent.destroy());

for (const probe of PROBES) {
  await compare(probe, 'private agent', ofPrivateAgent);
  await compare(probe, 'public agent', ofPublicAgent);
}

async function logIn(name: string): Promise<Browser> {
  const browser = new Browser(subject.origin);
  await browser.logIn(provider, name);
  return browser;
}

async function createSessions(owner: Browser, members: object = {}): Promise<string[]> {
  const created = await owner.post('/api/v1/agents', { name: 'Echo', model: 'rehearsal/echo' });
  const agentId = String(created.data.agent_id);
  if ('visibility' in members) {
    const access = { visibility: 'public', managers: [], users: [], groups: [] };
    const { status, text } = await owner.send('PUT', `/api/v1/agents/${agentId}/access`, access);
    if (status !== 200) throw new Error(`sharing the agent failed: ${text}`);
  }
  const ids: string[] = [];
  for (let index = 0; index < SESSIONS; index++) {
    const { data } = await owner.post(`/api/v1/agents/${agentId}/conversations`, { message: 'Hello' });
    ids.push(String(data.session_id));
  }
  return ids;
}

async function compare(probe: Probe, kind: string, foreignIds: readonly string[]): Promise<void> {
  const foreign: number[] = [];
  const absent: number[] = [];
  const measure = {
    foreign: async () => foreign.push(await durationOf(probe, foreignIds[randomInt(SESSIONS)] ?? '')),
    absent: async () => absent.push(await durationOf(probe, newId('ses'))),
  };
  for (let sent = 0; sent < REQUESTS + WARM_UP; sent++) {
    if (sent === WARM_UP) foreign.length = absent.length = 0;
    const order = randomInt(2) === 0 ? (['foreign', 'absent'] as const) : (['absent', 'foreign'] as const);
    for (const one of order) await measure[one]();
  }
  const [median, other] = [medianOf(foreign), medianOf(absent)];
  const t = welch(foreign, absent);
  console.log(
    `${`${probe.name}, ${kind}`.padEnd(32)} t = ${t.toFixed(2).padStart(6)}   medians ${median.toFixed(3)} and ${other.toFixed(3)} ms`,
  );
}

/** Milliseconds from the request to the last byte of the response, which must be 404. */
function durationOf({ method, path, body }: Probe, sessionId: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const startedAt = performance.now();
    request(
      `${subject.origin}/api/v1${path(sessionId)}`,
      { method, agent, headers: { ...headers, ...json } },
      (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 404) resolve(performance.now() - startedAt);
          else reject(new Error(`${method} ${path(sessionId)} returned ${response.statusCode}`));
        });
      },
    )
      .on('error', reject)
      .end(body);
  });
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** https://en.wikipedia.org/wiki/Welch%27s_t-test */
function welch(a: readonly number[], b: readonly number[]): number {
  const [one, other] = [moments(a), moments(b)];
  return (one.mean - other.mean) / Math.sqrt(one.variance / a.length + other.variance / b.length);
}

function moments(values: readonly number[]) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) };
}
