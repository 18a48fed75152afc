/**
 * The bare limit of a webhook: node:http, the same HMAC, and the same rows in one statement for each
 * request, over 16 connections. Nothing else.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';

const [url = '', secret = '', port = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 16 });
await pool.query(`
  create schema if not exists bare;
  create table if not exists bare.sessions (session_id text primary key, owner_id text, agent_id text, created_at timestamptz);
  create table if not exists bare.journal (session_id text, seq bigint, events json, primary key (session_id, seq));
  create table if not exists bare.turns (turn_id text primary key, session_id text, status text);
  create index if not exists ready on bare.turns (turn_id) where status = 'queued';`);

const INSERT = {
  name: 'bare.create',
  text: `with s as (insert into bare.sessions values ($1, 'usr_1', 'agt_1', now())),
              j as (insert into bare.journal values ($1, 1, $2))
         insert into bare.turns values ($3, $1, 'queued')`,
};
let count = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const body = Buffer.concat(chunks);
    const digest = createHash('sha256').update(body).digest('hex');
    const timestamp = String(request.headers['x-webhook-timestamp']);
    const expected = createHmac('sha256', secret).update(`${timestamp}.${digest}`).digest();
    const given = Buffer.from(String(request.headers['x-webhook-signature']), 'base64');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      response.writeHead(401).end();
      return;
    }
    const id = `${process.pid}_${count++}`;
    const event = JSON.stringify([{ type: 'user.message', content: body.toString() }]);
    await pool.query({ ...INSERT, values: [`ses_${id}`, event, `trn_${id}`] });
    const answer = JSON.stringify({
      code: 'OK',
      message: 'success',
      data: { session_id: `ses_${id}`, status: 'accepted' },
    });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
      .end(answer);
  });
});
server.listen(Number(port), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
