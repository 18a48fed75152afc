import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, statement } from '../../lib/db/database.ts';
import { startPostgres } from '../../lib/db/embedded.ts';
import { createLogins } from '../../lib/db/logins.ts';
import { migrate } from '../../lib/db/migrations.ts';
import { probeServer } from '../../lib/db/probe.ts';
import { scratch } from '../support/scratch.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

const CERTIFY = [
  'openssl req -new -x509 -days 2 -nodes -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1',
  '-out server.crt -keyout server.key 2>&1',
].join(' ');

/** A server that accepts only TLS connections and has a self-signed certificate. */
describe('a database with TLS', () => {
  const stack = new AsyncDisposableStack();
  let url: string;
  let certificate: string;

  const urlWith = (...parameters: string[]) => `${url}?${parameters.join('&')}`;
  const verified = () => urlWith('sslmode=verify-full', `sslrootcert=${certificate}`);

  beforeAll(async () => {
    const directory = await mkdtemp(join(scratch(), 'ahs-tls-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const server = stack.use(
      await startPostgres({
        directory: join(directory, 'postgres'),
        settings: { fsync: 'off' },
        log: () => {},
      }),
    );
    url = server.url;
    const hba = 'hostssl all all all scram-sha-256';
    await rowsOn(url, `copy (select '') to program '${CERTIFY}'`);
    const [made] = await rowsOn(url, `select pg_read_file('server.crt') as text`);
    certificate = join(directory, 'server.crt');
    await writeFile(certificate, String(made?.text));
    await rowsOn(url, `alter system set ssl = on`);
    await rowsOn(url, `copy (select '${hba}') to program 'cat > pg_hba.conf'`);
    await rowsOn(url, `select pg_reload_conf()`);
    await until(
      'the server accepts TLS connections',
      async () => (await probeServer(verified())) === undefined,
    );
  });
  afterAll(() => stack.disposeAsync());

  async function open(): Promise<Database> {
    const migrations = new URL('../../services/auth/migrations/', import.meta.url);
    const logins = await migrate(verified(), 'auth', migrations, (client) =>
      createLogins(client, verified(), 'auth', 'a secret'),
    );
    expect(logins).toBeDefined();
    const database = openDatabase({
      url: verified(),
      schema: 'auth',
      logins,
      pool: 2,
      onIdleError: () => {},
    });
    stack.defer(() => database.close());
    return database;
  }

  it('is migrated and queried over TLS only', async () => {
    const database = await open();
    const HOW = statement('test.how', 'select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    expect(await database.rows(HOW)).toEqual([{ ssl: true }]);
    expect(await database.rows(HOW, [], { viewer: { userId: 'usr_a' } })).toEqual([{ ssl: true }]);
  });

  it('accepts cancellations over TLS', async () => {
    const database = await open();
    const SLEEP = statement('test.sleep', 'select pg_sleep(9)');
    const leaving = new AbortController();
    const asleep = database.rows(SLEEP, [], { signal: leaving.signal });
    setTimeout(() => leaving.abort(), 200);
    await expect(asleep).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it.each([
    ['is unencrypted', () => url, 'no encryption', 'sslmode=verify-full'],
    ['has no certificate of the signer', () => urlWith('sslmode=verify-full'), 'self-signed', 'sslrootcert='],
    ['names a missing certificate file', () => urlWith('sslrootcert=/no/such'), 'ENOENT', 'sslrootcert='],
  ])('reports the problem and the fix for a connection that %s', async (_, urlOf, problem, fix) => {
    const found = await probeServer(urlOf());
    expect(found?.problem).toContain(problem);
    expect(found?.fix).toContain(fix);
  });
});
