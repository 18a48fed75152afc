/**
 * The work of the bare limit of webhooks: the same HMAC, and the same three rows (session, events, queued turn) in one statement per
 * request, over 16 connections. It looks up no owner, keeps no head, and has only the primary keys and the queue index.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import pg from 'pg';

export interface SignedBody {
  timestamp: string;
  signature: string;
  body: Buffer;
}

const INSERT = {
  name: 'bare.create',
  text: `with
    s as (
      insert into sessions (session_id, owner_id, agent_id, agent_version, deployment_id, body_bytes, source_address,
                            created_at)
      values ($1, $4, $5, 1, $6, $7, $8, $9)
    ),
    j as (
      insert into journal (session_id, first_seq, last_seq, types, bytes, events)
      values ($1, 1, 4, '{session.created,user.message,turn.queued,session.status_pending}', $10, $3)
    )
    insert into turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status, ready,
                       traceparent, created_at)
    values ($1, 2, $2, $4, $5, 1, 1, 'queued', true, $11, $9)`,
};
const OWNER = 'usr_01KAJ8QW4N2R6T0V3X5Z7B9D1F';
const AGENT = 'agt_01KAJ8QW4N2R6T0V3X5Z7B9D1F';
const DEPLOYMENT = 'dep_01KAJ8QW4N2R6T0V3X5Z7B9D1F';
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

/** The events of a new session, in the length that the service writes. */
function eventsOf(session: string, turn: string, body: string, time: string): string {
  const data = [
    `{"source":"webhook","agent_id":"${AGENT}","agent_version":1,"deployment_id":"${DEPLOYMENT}","invocation_id":"${session}"}`,
    `{"content":[{"type":"text","text":${JSON.stringify(body)}}]}`,
    `{"turn_id":"${turn}"}`,
    `{"turn_id":"${turn}"}`,
  ];
  const types = ['session.created', 'user.message', 'turn.queued', 'session.status_pending'];
  const events = types.map(
    (type, index) =>
      `{"event_id":"${session}","session_id":"${session}","seq":${index + 1},"type":"${type}","turn_id":"${turn}",` +
      `"created_at":"${time}","actor":{"type":"trigger","id":"${DEPLOYMENT}"},"traceparent":"${TRACEPARENT}",` +
      `"data":${data[index]}}`,
  );
  return `[${events.join(',\n')}]`;
}

export function isSigned({ timestamp, signature, body }: SignedBody, secret: string): boolean {
  const digest = createHash('sha256').update(body).digest('hex');
  const expected = createHmac('sha256', secret).update(`${timestamp}.${digest}`).digest();
  const actual = Buffer.from(signature, 'base64');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Creates the tables. Returns the function that stores a body and returns the response. */
export async function openStore(url: string): Promise<(body: Buffer) => Promise<string>> {
  const pool = new pg.Pool({ connectionString: url, max: 16, options: '-c search_path=bare' });
  const migrations = new URL('../../../services/sessions/migrations/', import.meta.url);
  // Sessions of webhooks have no metadata, so the bare limit needs neither the table of metadata nor its triggers.
  const tables = readdirSync(migrations)
    .filter((name) => !name.includes('metadata'))
    .sort()
    .map((name) => readFileSync(new URL(name, migrations), 'utf8'));
  // The migrations grant privileges to the service's roles, which must exist. An earlier round or the service may have created them.
  await pool.query(`
    do $$
      declare role text;
      begin
        foreach role in array array['ahs_sessions', 'ahs_sessions_viewer'] loop
          if not exists (select from pg_roles where rolname = role) then
            execute 'create role ' || role;
          end if;
        end loop;
      end
    $$;
    create schema bare;
    ${tables.join('\n')}
    do $$
      declare index record;
      begin
        for index in select indexname from pg_indexes
          where schemaname = 'bare' and indexname not like '%_pkey' and indexname <> 'turns_ready'
        loop
          execute 'drop index bare.' || index.indexname;
        end loop;
      end
    $$`);

  let count = 0;
  return async (body) => {
    const id = String(count++).padStart(26, '0');
    const [session, turn, now] = [`ses_${id}`, `trn_${id}`, new Date()];
    const events = eventsOf(session, turn, body.toString(), now.toISOString());
    const values = [
      session,
      turn,
      events,
      OWNER,
      AGENT,
      DEPLOYMENT,
      body.length,
      '127.0.0.1',
      now,
      events.length,
    ];
    await pool.query({ ...INSERT, values: [...values, TRACEPARENT] });
    return JSON.stringify({
      code: 'OK',
      message: 'success',
      data: { deployment_id: DEPLOYMENT, session_id: session, status: 'accepted' },
    });
  };
}

/** Answers each request with the result of `accept`, or with 401 when it is undefined. */
export function serve(
  port: number,
  accept: (request: SignedBody) => Promise<string | undefined> | undefined,
): void {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const answer = await accept({
        timestamp: String(request.headers['x-webhook-timestamp']),
        signature: String(request.headers['x-webhook-signature']),
        body: Buffer.concat(chunks),
      });
      if (answer === undefined) response.writeHead(401).end();
      else
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
          .end(answer);
    });
  });
  server.listen(port, '127.0.0.1');
}
