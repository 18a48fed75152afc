import pg from 'pg';
import { isDatabaseUnknown, isLoginRejected, sqlState } from './failure.ts';

const MIN_VERSION = 16;
const CONNECT_MS = 3_000;

/** A problem of the configured server and its fix. */
interface ServerProblem {
  problem: string;
  expected: string;
  fix: string;
}

/** Logs in to a PostgreSQL server and checks that it can be migrated. Returns undefined when it can. */
export async function probeServer(url: string): Promise<ServerProblem | undefined> {
  try {
    await using opened = new AsyncDisposableStack();
    // The constructor throws when the URL names a certificate file that cannot be read.
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
    opened.defer(() => client.end().catch(() => {}));
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<Facts>(FACTS);
    return problemOf(rows[0]);
  } catch (error) {
    return unusable(error);
  }
}

interface Facts {
  version: number;
  login: string;
  may_create: boolean;
  is_ready: boolean;
}

/** A login without the right to create roles is sufficient when the roles and schemas of the services exist. */
const FACTS = `
  select current_setting('server_version_num')::integer / 10000 as version, current_user as login,
    (rolsuper or rolcreaterole) and has_database_privilege(current_database(), 'create') as may_create,
    exists (
      select from pg_roles l join pg_database d on l.rolname = 'ahs_sessions_' || d.oid
      where d.datname = current_database()
    ) as is_ready
  from pg_roles where rolname = current_user`;

function problemOf(facts: Facts | undefined): ServerProblem | undefined {
  if (!facts) return undefined;
  if (facts.version < MIN_VERSION)
    return {
      problem: `: the server is PostgreSQL ${facts.version}`,
      expected: `PostgreSQL ${MIN_VERSION} or newer`,
      fix: 'upgrade that server, or name another',
    };
  if (facts.may_create || facts.is_ready) return undefined;
  return {
    problem: `: the login ${facts.login} may not create schemas and roles`,
    expected: 'a login that may create them, because every service has its own schema and role',
    fix: `ALTER ROLE ${facts.login} CREATEROLE, and GRANT CREATE on the database to it`,
  };
}

/** Error codes of Node and OpenSSL for untrusted or unreadable certificates. */
const DISTRUST = /CERT|LEAF_SIGNATURE|PEM/;
const TRUST = 'and, for a private certificate authority, &sslrootcert=<file of its certificate>';

function unusable(error: unknown): ServerProblem {
  const expected = 'a reachable PostgreSQL server and a valid login';
  const message = error instanceof Error ? error.message || (sqlState(error) ?? '') : String(error);
  if (/no encryption$/.test(message))
    return {
      problem: `: the server rejects this login without TLS (${message})`,
      expected,
      fix: `correct user and password, or add ?sslmode=verify-full to the URL${TRUST}`,
    };
  if (isDistrust(error))
    return {
      problem: `: the certificate of the server cannot be trusted (${message})`,
      expected: 'a certificate for the host in the URL from a trusted authority',
      fix: `correct it${TRUST}`,
    };
  if (isLoginRejected(error))
    return {
      problem: `: the server refuses the login (${message})`,
      expected,
      fix: 'correct user and password',
    };
  if (isDatabaseUnknown(error))
    return { problem: `: ${message}`, expected, fix: 'create that database, or name another' };
  return {
    problem: `: the server cannot be reached (${message})`,
    expected,
    fix: 'start that server, or correct host and port',
  };
}

/** The system call distinguishes an unreadable certificate file (open) from an unreachable server or socket (connect). */
function isDistrust(error: unknown): boolean {
  const { code = '', syscall }: NodeJS.ErrnoException = error instanceof Error ? error : new Error();
  return syscall === 'open' || DISTRUST.test(code);
}
