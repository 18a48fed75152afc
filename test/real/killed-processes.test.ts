import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64, PNG, sha256 } from '../edge/message-parts.ts';
import type { Api } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { shape } from '../support/shape.ts';
import { countOn, openConnection, rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
const INVALID = { text: '{"total": "many"}' };
const VALID = { text: '{"total": 3}' };
/** Long enough for a kill during the second attempt. */
const SLOWLY = { delay_ms: 3_000 };
const AGAIN = { answer_again: true };

describe(`processes that are killed, with ${shape}`, () => {
  let fleet: Fleet;
  let api: Api;
  beforeAll(async () => {
    fleet = await startFleet({ SERVICE_TURN_LEASE_SECONDS: '2' });
    ({ api } = fleet);
  });
  afterAll(async () => {
    const broken = fleet ? await brokenInvariants(fleet.databaseUrl) : [];
    await fleet?.[Symbol.asyncDispose]();
    expect(broken).toEqual([]);
  });

  const rows = <Row extends object>(sql: string) =>
    rowsOn<Row & Record<string, unknown>>(fleet.databaseUrl, sql);
  const eventsOf = async (session: string, types: string) => {
    const { body } = await api.get(`/sessions/${session}/events?types=${types}&limit=100`);
    return body.data as unknown as { data: Record<string, unknown> }[];
  };
  async function restartAll(): Promise<void> {
    for (const name of fleet.names) await fleet.run(name);
    await fleet.ready();
  }
  const killAll = () => Promise.all(fleet.names.map((name) => fleet.end(name, 'SIGKILL')));

  /** A new image, so that its bytes are stored by this request alone. */
  const newImage = () => {
    const bytes = Buffer.concat([PNG, randomBytes(16)]);
    const part = { type: 'image', media_type: 'image/png', data: base64(bytes) };
    return { digest: sha256(bytes), content: [{ type: 'text', text: 'Look' }, part] };
  };

  /**
   * Sends a request whose commit waits for a lock, and kills all processes once the part is stored. The database ends the
   * waiting statement with its connection.
   */
  async function killBeforeCommit(
    { lock, digest }: { lock: string; digest: string },
    send: () => Promise<unknown>,
  ): Promise<void> {
    await using connection = await openConnection(fleet.databaseUrl);
    await connection.query('begin');
    await connection.query(lock);
    const answered = send().then(
      () => true,
      () => false,
    );
    const parts = `select count(*) from files.parts p where p.sha256 = '${digest}'`;
    await until('the part is stored', async () => (await countOn(fleet.databaseUrl, parts)) > 0);
    const waiting = `select pid from pg_stat_activity
       where wait_event_type = 'Lock' and datname = current_database() and pid <> pg_backend_pid()`;
    await until('the commit waits', async () => (await rows(waiting)).length > 0);
    await killAll();
    expect(await answered).toBe(false);
    await rows(`select pg_terminate_backend(pid) from (${waiting}) w`);
    await connection.query('commit');
    await until('no statement waits', async () => (await rows(waiting)).length === 0);
    await restartAll();
  }

  describe('between StoreParts and the commit', () => {
    it('have one message with its part after the client repeats the request', async () => {
      const agent = await api.createAgent();
      const begun = await api.post(`/agents/${agent}/conversations`);
      const session = String(begun.body.data.session_id);
      const { digest, content } = newImage();
      const send = () =>
        api.post(`/sessions/${session}/messages`, { content }, { 'Idempotency-Key': digest });
      const lock = `select 1 from sessions.heads where session_id = '${session}' for update`;
      await killBeforeCommit({ lock, digest }, send);
      expect(await eventsOf(session, 'user.message')).toEqual([]);
      const repeated = await send();
      expect(repeated.status).toBe(202);
      expect(repeated.headers.get('idempotent-replayed')).toBe(null);
      expect(await eventsOf(session, 'user.message')).toMatchObject([
        { data: { content: [{ text: 'Look' }, { sha256: digest }] } },
      ]);
      const part = await fetch(`${api.origin}/api/v1/sessions/${session}/parts/${digest}`);
      expect(sha256(await part.bytes())).toBe(digest);
      const turn = `/sessions/${session}/turns/${repeated.body.data.turn_id}?wait_seconds=60`;
      expect((await api.get(turn)).body.data).toMatchObject({ status: 'completed' });
    });

    it('have one conversation after the client repeats the request, and check the parts of the other', async () => {
      const agent = await api.createAgent();
      const { digest, content } = newImage();
      const begin = () =>
        api.post(`/agents/${agent}/conversations`, { message: content }, { 'Idempotency-Key': digest });
      const lock = 'lock table sessions.heads in share row exclusive mode';
      await killBeforeCommit({ lock, digest }, begin);
      const { status, headers, body } = await begin();
      expect(status).toBe(201);
      expect(headers.get('idempotent-replayed')).toBe(null);
      const listed = (await api.get(`/agents/${agent}/sessions`)).body.data as { session_id: string }[];
      expect(listed.map(({ session_id: id }) => id)).toEqual([body.data.session_id]);
      const stored = await rows<{ id: string; unconfirmed: boolean }>(
        `select session_id as id, session_id in (select session_id from files.unconfirmed_sessions) as unconfirmed
         from files.parts where sha256 = '${digest}'`,
      );
      expect(stored).toHaveLength(2);
      for (const { id, unconfirmed } of stored)
        expect(unconfirmed || id === body.data.session_id, id).toBe(true);
    });
  });

  describe('between the two attempts of a structured output', () => {
    const runner = shape === 'one process' ? 'all' : 'runner';
    async function killAfterFirstAttempt(steps: object[]): Promise<{ session: string; turn: object }> {
      const agent = await api.createAgent({
        ...{ model: 'rehearsal/script', model_options: { steps } },
        output_schema: SCHEMA,
      });
      const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'Count.' });
      const session = String(body.data.session_id);
      await until('the first attempt has failed', async () => {
        return (await eventsOf(session, 'agent.message')).length === 1;
      });
      await fleet.end(runner, 'SIGKILL');
      expect(await countOn(fleet.databaseUrl, endings(session))).toBe(0);
      await fleet.run(runner);
      await fleet.ready();
      const [turn] = (await api.get(`/sessions/${session}/turns`)).body.data as { turn_id: string }[];
      const waited = await api.get(`/sessions/${session}/turns/${turn?.turn_id}?wait_seconds=60`);
      return { session, turn: waited.body.data };
    }
    const endings = (session: string) =>
      `select count(*) from sessions.turns where session_id = '${session}' and finished_at is not null`;

    it('complete the turn with the second attempt', async () => {
      const { session, turn } = await killAfterFirstAttempt([INVALID, AGAIN, { ...VALID, ...SLOWLY }]);
      expect(turn).toMatchObject({ status: 'completed', output: { total: 3 } });
      expect(await eventsOf(session, 'agent.message')).toMatchObject([
        { data: { output_error: { code: 'invalid' } } },
        { data: { output: { total: 3 } } },
      ]);
    });

    it('fail the turn after the second attempt, without a third one', async () => {
      const { session, turn } = await killAfterFirstAttempt([
        INVALID,
        AGAIN,
        { ...INVALID, ...SLOWLY },
        AGAIN,
        VALID,
      ]);
      expect(turn).toMatchObject({ status: 'failed', error: { code: 'output_invalid' }, output: null });
      expect(await eventsOf(session, 'agent.message')).toHaveLength(2);
    });
  });
});
