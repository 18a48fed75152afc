import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import pg from 'pg';
import { isLoginRejected, lacksPrivilege } from './failure.ts';
import { ROLE_KINDS, type RoleKind, roleOf } from './roles.ts';

/** The connection URLs of a service's login roles. They own nothing, create nothing and cannot switch to other roles. */
export type DatabaseLogins = Record<RoleKind, string>;

interface Login {
  user: string;
  password: string;
}

const CONNECT_MS = 5_000;

/**
 * Creates the two login roles of a service. Their passwords are derived from the shared service secret, so a new secret
 * takes effect at the next start. The role names include the database id, because roles belong to the whole server and
 * other installations can share it. The caller must hold the migration lock. Returns undefined when the server does not
 * accept these logins, for example because it requires another authentication method than passwords. The service then
 * uses its configured login and switches to the roles.
 */
export async function createLogins(
  client: pg.Client,
  url: string,
  schema: string,
  secret: string,
): Promise<DatabaseLogins | undefined> {
  const { rows } = await client.query<Facts>(FACTS);
  const [facts] = rows;
  if (!facts) return undefined;
  const logins = {
    service: loginOf(schema, 'service', facts, secret),
    viewer: loginOf(schema, 'viewer', facts, secret),
  };
  let accepted = true;
  for (const kind of ROLE_KINDS)
    accepted &&= await createLogin(client, url, roleOf(schema, kind), logins[kind], facts);
  await grantSchema(client, schema, logins, accepted);
  if (!accepted) return undefined;
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

/** Creates or updates a login role. Returns whether it can log in. */
async function createLogin(
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
  if (rows[0]?.belongs && (await canLogIn(as, user))) return true;
  // The statement contains the SCRAM verifier and not the password, because statements can be logged.
  const salt = derived(login.password, 'salt', user).subarray(0, 16);
  const proof = verifierOf(login.password, salt, facts.iterations);
  await client.query(`${rows.length === 0 ? 'create' : 'alter'} role ${user} login password '${proof}'`);
  await client.query(`grant ${role} to ${user} with inherit true, set false`);
  await client
    .query(`grant connect on database ${pg.escapeIdentifier(facts.database)} to ${user}`)
    .catch(ignoreRefusal);
  return canLogIn(as, user);
}

/** Grants schema usage to the login roles only. The group roles also have members from other databases of the server. */
async function grantSchema(
  client: pg.Client,
  schema: string,
  logins: Record<RoleKind, Login>,
  accepted: boolean,
): Promise<void> {
  for (const kind of ROLE_KINDS) {
    const role = roleOf(schema, kind);
    const statement = accepted
      ? `grant usage on schema ${schema} to ${logins[kind].user}; revoke usage on schema ${schema} from ${role}`
      : `grant usage on schema ${schema} to ${role}`;
    await client.query(statement);
  }
}

async function canLogIn(url: string, user: string): Promise<boolean> {
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
    if (isLoginRejected(error)) return false;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Returns the URL with another user and password. They are query parameters because a socket URL has no user part. */
function urlOf(url: string, { user, password }: Login, { database }: Facts): string {
  const changed = new URL(url);
  changed.searchParams.set('user', user);
  changed.searchParams.set('password', password);
  // A URL without a database name means the database with the name of the user, which would change with the user.
  if (changed.pathname.length < 2) changed.pathname = `/${encodeURI(database)}`;
  return changed.href;
}

function ignoreRefusal(error: unknown): void {
  if (!lacksPrivilege(error)) throw error;
}

function derived(secret: string, purpose: string, user: string): Buffer {
  return createHmac('sha256', secret).update(`ahs.database.${purpose}\0${user}`).digest();
}

/** Returns the SCRAM verifier that PostgreSQL stores for a password (RFC 5803). */
function verifierOf(password: string, salt: Buffer, iterations: number): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
