import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import pg from 'pg';
import { sqlState } from './failure.ts';
import { ROLE_KINDS, type RoleKind, roleOf } from './roles.ts';

/** URLs with which a service logs in: as somebody who owns nothing, creates nothing and becomes nobody else. */
export type Logins = Record<RoleKind, string>;

interface Login {
  user: string;
  password: string;
}

const CONNECT_MS = 5_000;
/** 28: the server lets nobody of that name in this way. 08P01: so says a pooler that does not know the name. */
const REFUSED = /^(28|08P01|42501)/;

/**
 * Sees to it that the service can log in as its own two roles, with passwords that follow from the secret that all
 * services share: a new secret is in force with the next start. The roles are those of this database, as roles
 * belong to a whole server and other installations may live there. The caller holds the lock of migrations.
 * Undefined when the server lets such logins not in, because it goes by other proofs than passwords for example;
 * the service then acts as these roles under the login that it has.
 */
export async function makeLogins(
  client: pg.Client,
  url: string,
  schema: string,
  secret: string,
): Promise<Logins | undefined> {
  const { rows } = await client.query<Facts>(FACTS);
  const [facts] = rows;
  if (!facts) return undefined;
  const logins = {
    service: loginOf(schema, 'service', facts, secret),
    viewer: loginOf(schema, 'viewer', facts, secret),
  };
  let open = true;
  for (const kind of ROLE_KINDS)
    open &&= await makeLogin(client, url, roleOf(schema, kind), logins[kind], facts);
  await giveSchema(client, schema, logins, open);
  if (!open) return undefined;
  return { service: urlOf(url, logins.service, facts), viewer: urlOf(url, logins.viewer, facts) };
}

interface Facts {
  database: string;
  oid: string;
  iterations: number;
}

const FACTS = `
  select datname::text as database, oid::text, current_setting('scram_iterations')::integer as iterations
  from pg_database where datname = current_database()`;

function loginOf(schema: string, kind: RoleKind, { oid }: Facts, secret: string): Login {
  const user = `${roleOf(schema, kind)}_${oid}`;
  return { user, password: derived(secret, 'password', user).toString('base64url') };
}

/** Whether one can log in. */
async function makeLogin(
  client: pg.Client,
  url: string,
  role: string,
  login: Login,
  facts: Facts,
): Promise<boolean> {
  const { user } = login;
  const as = urlOf(url, login, facts);
  const { rows } = await client.query(
    `select pg_has_role(rolname, $2, 'usage') as belongs from pg_roles where rolname = $1`,
    [user, role],
  );
  if (rows[0]?.belongs && (await letsIn(as, user))) return true;
  // The server is given what proves the password, not the password: statements may be logged.
  const salt = derived(login.password, 'salt', user).subarray(0, 16);
  const proof = verifierOf(login.password, salt, facts.iterations);
  await client.query(`${rows.length === 0 ? 'create' : 'alter'} role ${user} login password '${proof}'`);
  await client.query(`grant ${role} to ${user} with inherit true, set false`);
  await client
    .query(`grant connect on database ${pg.escapeIdentifier(facts.database)} to ${user}`)
    .catch(ignoreRefusal);
  return letsIn(as, user);
}

/** What is in a schema is out of reach for the roles themselves: other databases of the server have logins for them, too. */
async function giveSchema(
  client: pg.Client,
  schema: string,
  logins: Record<RoleKind, Login>,
  open: boolean,
): Promise<void> {
  for (const kind of ROLE_KINDS) {
    const role = roleOf(schema, kind);
    const statement = open
      ? `grant usage on schema ${schema} to ${logins[kind].user}; revoke usage on schema ${schema} from ${role}`
      : `grant usage on schema ${schema} to ${role}`;
    await client.query(statement);
  }
}

async function letsIn(url: string, user: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'ahs-login',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>('select session_user::text as name');
    return rows[0]?.name === user;
  } catch (error) {
    if (REFUSED.test(sqlState(error) ?? '')) return false;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** The same server and database, as somebody else. As parameters, as a URL of a socket has no host to be somebody at. */
function urlOf(url: string, { user, password }: Login, { database }: Facts): string {
  const changed = new URL(url);
  changed.searchParams.set('user', user);
  changed.searchParams.set('password', password);
  // Whoever names none means the one that is called like the user.
  if (changed.pathname.length < 2) changed.pathname = `/${encodeURI(database)}`;
  return changed.href;
}

function ignoreRefusal(error: unknown): void {
  if (sqlState(error) !== '42501') throw error;
}

function derived(secret: string, purpose: string, user: string): Buffer {
  return createHmac('sha256', secret).update(`ahs.database.${purpose}\0${user}`).digest();
}

/** What PostgreSQL keeps of a password (RFC 5803). */
function verifierOf(password: string, salt: Buffer, iterations: number): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
