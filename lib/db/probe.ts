import pg from 'pg';
import { sqlState } from './failure.ts';

const OLDEST = 16;
const CONNECT_MS = 3_000;

/** What is wrong with a server that was named, and the way out. */
export interface ServerProblem {
  problem: string;
  expected: string;
  fix: string;
}

/** Logs in to a PostgreSQL server and looks whether it will do for migrations. Undefined when it will. */
export async function tryServer(url: string): Promise<ServerProblem | undefined> {
  try {
    await using opened = new AsyncDisposableStack();
    // Whose URL names files that cannot be read is not even made.
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
    opened.defer(() => client.end().catch(() => {}));
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<Facts>(FACTS);
    return judge(rows[0]);
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

/** A login that may not create roles still serves where those of the services, and their schemas, are there. */
const FACTS = `
  select current_setting('server_version_num')::integer / 10000 as version, current_user as login,
    (rolsuper or rolcreaterole) and has_database_privilege(current_database(), 'create') as may_create,
    exists (
      select from pg_roles l join pg_database d on l.rolname = 'ahs_sessions_' || d.oid
      where d.datname = current_database()
    ) as is_ready
  from pg_roles where rolname = current_user`;

function judge(facts: Facts | undefined): ServerProblem | undefined {
  if (!facts) return undefined;
  if (facts.version < OLDEST)
    return {
      problem: `: the server is PostgreSQL ${facts.version}`,
      expected: `PostgreSQL ${OLDEST} or newer`,
      fix: 'upgrade that server, or name another',
    };
  if (facts.may_create || facts.is_ready) return undefined;
  return {
    problem: `: the login ${facts.login} may not create schemas and roles`,
    expected: 'a login that may, as every service keeps its own schema and logs in as a role of its own',
    fix: `ALTER ROLE ${facts.login} CREATEROLE, and GRANT CREATE on the database to it`,
  };
}

/** What Node and OpenSSL call it when they do not believe a certificate, or cannot read one. */
const DISTRUST = /CERT|LEAF_SIGNATURE|PEM/;
const TRUST = ', and where its authority is not a public one, &sslrootcert=<file of its certificate>';

function unusable(error: unknown): ServerProblem {
  const expected = 'a PostgreSQL server that can be reached, and a login it lets in';
  const state = sqlState(error) ?? '';
  const message = error instanceof Error ? error.message || state : String(error);
  if (/no encryption$/.test(message))
    return {
      problem: `: the server does not let this login in without TLS (${message})`,
      expected,
      fix: `correct user and password, or add ?sslmode=verify-full to the URL${TRUST}`,
    };
  if (isDistrust(error))
    return {
      problem: `: the certificate of the server cannot be trusted (${message})`,
      expected: 'a certificate for the host in the URL, by an authority that is known',
      fix: `correct it${TRUST}`,
    };
  if (state === '28P01' || state === '28000')
    return {
      problem: `: the server refuses the login (${message})`,
      expected,
      fix: 'correct user and password',
    };
  if (state === '3D000')
    return { problem: `: ${message}`, expected, fix: 'create that database, or name another' };
  return {
    problem: `: the server cannot be reached (${message})`,
    expected,
    fix: 'start that server, or correct host and port',
  };
}

/** A file that the URL names is opened; a server is connected to, also at a socket that is not there. */
function isDistrust(error: unknown): boolean {
  const { code = '', syscall }: NodeJS.ErrnoException = error instanceof Error ? error : new Error();
  return syscall === 'open' || DISTRUST.test(code);
}
