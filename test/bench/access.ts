import { Browser } from '../edge/access/browser.ts';
import { createApi } from '../support/api.ts';
import { CLIENT_ID, IdentityProvider } from '../support/identity-provider.ts';
import { jobFor } from './acceptance.ts';
import type { Bench } from './bench.ts';
import { send } from './senders.ts';
import type { Subject } from './subject.ts';
import { startWhole } from './subjects.ts';

/** CPU of the service for one request, in microseconds. */
export interface Costs {
  /** In local mode, where nothing is shown. */
  localUs: number;
  /** With a personal access token. */
  tokenUs: number;
  /** With the cookie of a login. */
  loginUs: number;
}

export interface Access {
  /** Reading one agent: what is asked of the database on behalf of somebody costs more there, too. */
  reading: Costs;
  /**
   * Asking for an agent that cannot be: all that is done is to find out who asks. That asks nothing of the system, whose
   * part in sending and receiving differs by more than this costs: it is not counted.
   */
  knowing: Costs;
}

/** Who asks for the same things, and with what. */
interface Asker {
  subject: Subject;
  requests: Record<keyof Access, Request>;
  costs: Record<keyof Access, number[]>;
}

interface Request {
  text: string;
  status: number;
  counted: 'cpuMs' | 'userMs';
}

/** Each measures in turns with the others, so that what slows the machine for a while slows all. */
const TURNS = 10;
const CONNECTIONS = 8;

/** n: what it costs to know who asks, beside local mode, where everybody is the same. */
export async function measureAccess(bench: Bench): Promise<Access> {
  await using ground = new AsyncDisposableStack();
  // Each has a service of its own, so that all are equally warm.
  const local = await openLocal(bench, ground);
  const token = await openTeam(bench, ground, tokenOf);
  const login = await openTeam(bench, ground, loginOf);
  const askers = [local, token, login];
  for (let turn = 0; turn < TURNS; turn++)
    for (const asker of askers)
      for (const what of ['reading', 'knowing'] as const)
        asker.costs[what].push(await cost(asker.subject, asker.requests[what], bench.durationMs / TURNS));
  // Whatever else the machine does makes a request dearer, never cheaper.
  const costsOf = (what: keyof Access): Costs => {
    const [localUs = 0, tokenUs = 0, loginUs = 0] = askers.map(({ costs }) => Math.min(...costs[what]));
    const us = (value: number) => `${value.toFixed(0)} µs`;
    bench.say('n', `CPU, ${what}: local mode ${us(localUs)}, token ${us(tokenUs)}, login ${us(loginUs)}`);
    return { localUs, tokenUs, loginUs };
  };
  return { reading: costsOf('reading'), knowing: costsOf('knowing') };
}

async function openLocal({ postgres }: Bench, ground: AsyncDisposableStack): Promise<Asker> {
  const database = ground.use(await postgres.createDatabase());
  const subject = ground.use(await startWhole(database.url));
  const agent = await createApi(subject.origin).createAgent();
  return askerOf(subject, agent);
}

const tokenOf = async (browser: Browser) => `Authorization: Bearer ${(await browser.token(['read'])).value}`;
const loginOf = async (browser: Browser) => `Cookie: ${browser.jar.header()}`;

async function openTeam(
  { postgres }: Bench,
  ground: AsyncDisposableStack,
  credentialOf: (browser: Browser) => Promise<string>,
): Promise<Asker> {
  const provider = ground.use(await IdentityProvider.open({ accounts: { ada: { name: 'Ada' } } }));
  const database = ground.use(await postgres.createDatabase());
  const settings = {
    SERVICE_AUTH_MODE: 'oidc',
    SERVICE_OIDC_ISSUER: provider.issuer,
    SERVICE_OIDC_CLIENT_ID: CLIENT_ID,
    SERVICE_OIDC_ADMINISTRATOR_GROUPS: 'operators',
  };
  const subject = ground.use(await startWhole(database.url, undefined, settings));
  provider.returnTo(subject.origin);
  const browser = new Browser(subject.origin);
  await browser.logIn(provider, 'ada');
  const made = await browser.post('/api/v1/agents', { name: 'Echo', model: 'rehearsal/echo' });
  return askerOf(subject, String(made.data.agent_id), await credentialOf(browser));
}

function askerOf(subject: Subject, agent: string, ...headers: string[]): Asker {
  const lines = [`Host: ${new URL(subject.origin).host}`, ...headers];
  const textFor = (id: string) => `${[`GET /api/v1/agents/${id} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
  return {
    subject,
    requests: {
      reading: { text: textFor(agent), status: 200, counted: 'cpuMs' },
      knowing: { text: textFor('agt_nobody'), status: 404, counted: 'userMs' },
    },
    costs: { reading: [], knowing: [] },
  };
}

/** Microseconds of CPU per answer; the warm-up counts for neither. */
async function cost(
  subject: Subject,
  { text, status, counted }: Request,
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
