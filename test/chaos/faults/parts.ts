import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Browser } from '../../edge/access/browser.ts';
import { teamSettings } from '../../edge/access/team.ts';
import { type Api, createApi } from '../../support/api.ts';
import { FakeS3 } from '../../support/fake-s3.ts';
import { IdentityProvider } from '../../support/identity-provider.ts';
import { freePort } from '../../support/port.ts';
import { openPostgresProxy, type PostgresProxy } from '../../support/postgres-proxy.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres-server.ts';
import { runProgram } from '../../support/program.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { scratch } from '../../support/scratch.ts';
import { until } from '../../support/wait.ts';

/** The service in a process of its own in team mode, with every part that it depends on. */
export interface Parts extends AsyncDisposable {
  /** A client with a personal access token of an administrator. */
  api: Api;
  postgres: TestPostgres;
  /** Between the service and PostgreSQL. */
  proxy: PostgresProxy;
  redis: TestRedis;
  store: FakeS3;
  provider: IdentityProvider;
  /** What the service has printed. */
  output(): string;
}

const ACCOUNTS = { alice: { name: 'Alice', email: 'alice@example.com', groups: ['operators'] } };

export async function startParts(): Promise<Parts> {
  await using opened = new AsyncDisposableStack();
  const postgres = opened.use(await startTestPostgres());
  const proxy = opened.use(await openPostgresProxy(postgres.url));
  const redis = opened.use(await startRedis());
  const store = opened.use(await new FakeS3().start());
  const provider = opened.use(await IdentityProvider.open({ accounts: ACCOUNTS }));
  const directory = await mkdtemp(join(scratch(), 'ahs-faults-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  provider.setOrigin(origin);
  const program = runProgram({
    SERVICE_PORT: String(port),
    SERVICE_DATA_DIR: directory,
    SERVICE_DATABASE_URL: proxy.url,
    SERVICE_REDIS_URL: redis.url,
    SERVICE_S3_ENDPOINT: store.endpoint,
    SERVICE_S3_BUCKET: 'files',
    SERVICE_S3_ACCESS_KEY: 'key',
    SERVICE_S3_SECRET_KEY: 'secret',
    SERVICE_TURN_LEASE_SECONDS: '2',
    SERVICE_LOG_LEVEL: 'error',
    ...teamSettings(provider),
  });
  opened.defer(async () => {
    program.kill('SIGTERM');
    await program.exited;
  });
  await until('the service is ready', () => isReady(origin), 30_000);
  const browser = new Browser(origin);
  await browser.logIn(provider, 'alice');
  const { value } = await browser.token(['read', 'write', 'admin']);
  const api = createApi(origin, { authorization: `Bearer ${value}` });
  const stack = opened.move();
  return {
    api,
    postgres,
    proxy,
    redis,
    store,
    provider,
    output: program.output,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The state that `/readyz` reports. Undefined while the service is unready or does not answer. */
export async function stateOf(origin: string): Promise<string | undefined> {
  const response = await fetch(`${origin}/readyz`).catch(() => undefined);
  if (!response?.ok) return undefined;
  const { data } = (await response.json()) as { data?: { status?: string } };
  return data?.status;
}

const isReady = async (origin: string) => (await stateOf(origin)) === 'ready';
