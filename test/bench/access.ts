import { Browser } from '../edge/access/browser.ts';
import { createApi } from '../support/api.ts';
import { CLIENT_ID, IdentityProvider } from '../support/identity-provider.ts';
import { jobFor } from './acceptance.ts';
import type { Bench } from './bench.ts';
import { send } from './senders.ts';
import type { Subject } from './subject.ts';
import { startWhole } from './subjects.ts';

/** CPU of the service for one trivial request, in microseconds. */
export interface Access {
  /** In local mode, where nothing is shown. */
  localUs: number;
  /** With a personal access token. */
  tokenUs: number;
  /** With the cookie of a login. */
  loginUs: number;
}

/** Who asks for the same thing, and with what. */
interface Asker {
  subject: Subject;
  request: string;
  costs: number[];
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
  for (let turn = 0; turn < TURNS; turn++)
    for (const asker of [local, token, login]) asker.costs.push(await cost(asker, bench.durationMs / TURNS));
  // Whatever else the machine does makes a request dearer, never cheaper.
  const [localUs = 0, tokenUs = 0, loginUs = 0] = [local, token, login].map(({ costs }) =>
    Math.min(...costs),
  );
  const us = (value: number) => `${value.toFixed(0)} µs`;
  bench.say('n', `CPU per request: local mode ${us(localUs)}, token ${us(tokenUs)}, login ${us(loginUs)}`);
  return { localUs, tokenUs, loginUs };
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
  const head = [`GET /api/v1/agents/${agent} HTTP/1.1`, `Host: ${new URL(subject.origin).host}`, ...headers];
  return { subject, request: `${head.join('\r\n')}\r\n\r\n`, costs: [] };
}

/** Microseconds of CPU per answer; the warm-up counts for neither. */
async function cost({ subject, request }: Asker, durationMs: number): Promise<number> {
  const cpuMs = async () => (await subject.usage()).reduce((sum, { usage }) => sum + usage.cpuMs, 0);
  let before = 0;
  const job = { ...jobFor(subject, request, durationMs), connections: CONNECTIONS };
  const { answers } = await send(job, subject, async () => {
    before = await cpuMs();
  });
  return (((await cpuMs()) - before) / answers) * 1_000;
}
