import { Browser } from '../../edge/access/browser.ts';
import { createApi } from '../../support/api.ts';
import { CLIENT_ID, IdentityProvider } from '../../support/identity-provider.ts';
import type { Bench } from '../bench.ts';
import type { Subject } from '../subjects/subject.ts';
import { startSingleProcess } from '../subjects/subjects.ts';
import { send } from '../workers/senders.ts';
import { jobFor } from './webhooks/acceptance.ts';

/** CPU of the service for one request, in microseconds. */
export interface AccessCosts {
  /** In local mode, without a credential. */
  localUs: number;
  /** With a personal access token. */
  tokenUs: number;
  /** With the cookie of a login. */
  loginUs: number;
}

export interface Access {
  /** Reading one agent, including statements with row-level security. */
  reading: AccessCosts;
  /**
   * Requesting an agent with an invalid id, which only identifies the caller. System time is not counted: its share in sending
   * and receiving varies by more than this cost.
   */
  identifying: AccessCosts;
}

/** A client with one kind of credential. */
export interface AccessClient {
  subject: Subject;
  requests: Record<keyof Access, AccessRequest>;
  costs: Record<keyof Access, number[]>;
}

interface AccessRequest {
  text: string;
  status: number;
  counted: 'cpuMs' | 'userMs';
}

/** The clients are measured in turn, so that a temporary slowdown of the machine affects all of them. */
const TURNS = 10;
const CONNECTIONS = 8;

/** n: the cost of identifying the caller, compared with local mode. */
export async function measureAccess(bench: Bench): Promise<Access> {
  await using resources = new AsyncDisposableStack();
  // Each client has a service of its own, so that all are equally warm.
  const local = await openLocal(bench, resources);
  const token = await openTeam(bench, resources, tokenOf);
  const login = await openTeam(bench, resources, loginOf);
  const clients = [local, token, login];
  for (let turn = 0; turn < TURNS; turn++)
    for (const client of clients)
      for (const what of ['reading', 'identifying'] as const)
        client.costs[what].push(await cost(client.subject, client.requests[what], bench.durationMs / TURNS));
  // Other load only increases the cost of a request, so the minimum is the best estimate.
  const costsOf = (what: keyof Access): AccessCosts => {
    const [localUs = 0, tokenUs = 0, loginUs = 0] = clients.map(({ costs }) => Math.min(...costs[what]));
    const us = (value: number) => `${value.toFixed(0)} µs`;
    bench.print('n', `CPU, ${what}: local mode ${us(localUs)}, token ${us(tokenUs)}, login ${us(loginUs)}`);
    return { localUs, tokenUs, loginUs };
  };
  return { reading: costsOf('reading'), identifying: costsOf('identifying') };
}

async function openLocal({ postgres }: Bench, resources: AsyncDisposableStack): Promise<AccessClient> {
  const database = resources.use(await postgres.createDatabase());
  const subject = resources.use(await startSingleProcess(database.url));
  const agent = await createApi(subject.origin).createAgent();
  return clientOf(subject, agent);
}

export const tokenOf = async (browser: Browser) =>
  `Authorization: Bearer ${(await browser.token(['read'])).value}`;
const loginOf = async (browser: Browser) => `Cookie: ${browser.jar.header()}`;

/** Opens a service with an identity provider, in one process unless `start` does otherwise. */
export async function openTeam(
  { postgres }: Bench,
  resources: AsyncDisposableStack,
  credentialOf: (browser: Browser) => Promise<string>,
  start = (databaseUrl: string, settings: Record<string, string>) =>
    startSingleProcess(databaseUrl, undefined, settings),
): Promise<AccessClient> {
  const provider = resources.use(await IdentityProvider.open({ accounts: { ada: { name: 'Ada' } } }));
  const database = resources.use(await postgres.createDatabase());
  const settings = {
    SERVICE_AUTH_MODE: 'oidc',
    SERVICE_OIDC_ISSUER: provider.issuer,
    SERVICE_OIDC_CLIENT_ID: CLIENT_ID,
    SERVICE_OIDC_ADMINISTRATOR_GROUPS: 'operators',
  };
  const subject = resources.use(await start(database.url, settings));
  provider.setOrigin(subject.origin);
  const browser = new Browser(subject.origin);
  await browser.logIn(provider, 'ada');
  const created = await browser.post('/api/v1/agents', { name: 'Echo', model: 'rehearsal/echo' });
  return clientOf(subject, String(created.data.agent_id), await credentialOf(browser));
}

function clientOf(subject: Subject, agent: string, ...headers: string[]): AccessClient {
  const lines = [`Host: ${new URL(subject.origin).host}`, ...headers];
  const textFor = (id: string) => `${[`GET /api/v1/agents/${id} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
  return {
    subject,
    requests: {
      reading: { text: textFor(agent), status: 200, counted: 'cpuMs' },
      identifying: { text: textFor('agt_nobody'), status: 404, counted: 'userMs' },
    },
    costs: { reading: [], identifying: [] },
  };
}

/** Returns the CPU time of all processes per response in microseconds, without the warm-up. */
export async function cost(
  subject: Subject,
  { text, status, counted }: AccessRequest,
  durationMs: number,
): Promise<number> {
  const usedMs = async () => (await subject.usage()).reduce((sum, { usage }) => sum + usage[counted], 0);
  let before = 0;
  const job = { ...jobFor(subject, text, durationMs), status, connections: CONNECTIONS };
  const { answers } = await send(job, subject, async () => {
    before = await usedMs();
  });
  return (((await usedMs()) - before) / answers) * 1_000;
}
