import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AuditAction } from '../../../lib/audit-actions.ts';
import { sha256 } from '../../../lib/digest.ts';
import { refuse } from '../../../lib/errors.ts';
import { createAuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import { startTrace } from '../../../lib/trace.ts';
import type { Act, ListActsRequest } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, LOCAL, loggedIn, openAuthUnderTest } from './system.ts';

const alice = loggedIn('A');
const root = { caller: { ...loggedIn('R', ['administrator']).caller, address: '203.0.113.9' } };
const BOB = `usr_${'B'.repeat(26)}`;
const ACT = {
  action: 'environment.create',
  targetId: 'env_1',
  outcome: 'done',
  dataJson: '{"name":"x"}',
  address: '',
};

describe.each(TRANSPORTS)('audit log, %s', (transport) => {
  let auth: AuthUnderTest;
  let clock: FakeClock;

  beforeAll(async () => {
    clock = createFakeClock();
    auth = await openAuthUnderTest(transport, { clock });
    await inDatabase((client) =>
      client.query(
        `insert into auth.users (user_id, display_name, roles) values ('${BOB}', 'Bob', '{member}')`,
      ),
    );
  });
  afterAll(() => auth[Symbol.asyncDispose]());

  const agents = () => auth.as('agents');
  const record = (changes: Partial<typeof ACT> = {}, options: object = root) =>
    agents().recordActs({ acts: [{ ...ACT, ...changes }] }, options);

  async function list(filter: Partial<ListActsRequest> = {}, limit = 100): Promise<Act[]> {
    const acts: Act[] = [];
    const request = { actorId: '', action: '', targetId: '', outcome: '', from: undefined, until: undefined };
    for (let cursor = ''; ; ) {
      const answer = await auth.edge.listActs({ ...request, ...filter, page: { limit, cursor } }, root);
      acts.push(...answer.acts);
      cursor = answer.page?.nextCursor ?? '';
      if (cursor === '') return acts;
    }
  }

  const verify = (afterSeq = 0, limit = 100_000) => auth.edge.verifyActs({ afterSeq, limit }, root);

  async function inDatabase<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const client = new pg.Client({ connectionString: auth.databaseUrl });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  describe('RecordActs RPC', () => {
    it('stores actor, action, address, credential, data and time', async () => {
      await record({ targetId: 'env_who' });
      const [act] = await list({ targetId: 'env_who' });
      expect(act).toEqual({
        seq: expect.any(Number),
        createdAt: clock.now(),
        actorId: root.caller.userId,
        credential: root.caller.credential,
        action: 'environment.create',
        targetId: 'env_who',
        outcome: 'done',
        address: '203.0.113.9',
        requestId: '',
        dataJson: '{"name":"x"}',
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    });

    it('stores the signed address of the caller and ignores the reported address', async () => {
      await record({ targetId: 'env_reported', address: '198.51.100.1' });
      await record({ targetId: 'env_nobody', address: '198.51.100.1', action: 'access.refuse' }, {});
      expect(await list({ targetId: 'env_reported' })).toMatchObject([{ address: '203.0.113.9' }]);
      expect(await list({ targetId: 'env_nobody' })).toMatchObject([
        { address: '198.51.100.1', actorId: '' },
      ]);
    });

    it('numbers concurrent entries without gaps', async () => {
      const before = (await list())[0]?.seq ?? 0;
      await Promise.all(Array.from({ length: 100 }, (_, index) => record({ targetId: `env_${index}` })));
      const acts = (await list()).filter(({ seq }) => seq > before).reverse();
      const numbers = acts.map(({ seq }) => seq);
      expect(numbers).toEqual(Array.from(numbers, (_, index) => before + 1 + index));
      expect(acts.filter(({ action }) => action === 'environment.create')).toHaveLength(100);
    });

    it('stores all entries of a request or none', async () => {
      const acts = [ACT, { ...ACT, action: 'environment.paint' }].map((act) => ({
        ...act,
        targetId: 'env_all',
      }));
      await expect(agents().recordActs({ acts }, root)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      expect(await list({ targetId: 'env_all' })).toEqual([]);
    });

    it.each([
      ['an unknown action', { action: 'constructor' }],
      ['an unknown outcome', { outcome: 'planned' }],
      ['too much data', { dataJson: JSON.stringify('x'.repeat(17_000)) }],
    ])('rejects %s', async (_, changes) => {
      await expect(record(changes)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });

    it.each([
      ['a NUL character', 'env_\0'],
      ['a lone surrogate', 'env_\ud800'],
    ])('rejects %s, or replaces it before the entry is hashed', async (_, targetId) => {
      const outcome = await record({ targetId }).catch((error: { code: string }) => error.code);
      expect(['INVALID_TEXT', {}]).toContainEqual(outcome);
      expect(await verify()).toMatchObject({ brokenSeq: undefined, complete: true });
    });

    it('accepts calls of listed services only', async () => {
      for (const peer of ['runner', 'stranger'])
        await expect(auth.as(peer).recordActs({ acts: [] }, root)).rejects.toMatchObject({
          code: 'FORBIDDEN',
        });
    });
  });

  describe('actions of the auth service', () => {
    it.each<[AuditAction, () => Promise<unknown>]>([
      ['token.create', () => auth.edge.createToken(TOKEN, LOCAL)],
      [
        'token.delete',
        async () => {
          const { token } = await auth.edge.createToken(TOKEN, LOCAL);
          return auth.edge.deleteToken({ tokenId: token?.tokenId ?? '' }, LOCAL);
        },
      ],
      ['user.disable', () => auth.edge.setUserEnabled({ userId: BOB, enabled: false }, root)],
      ['user.enable', () => auth.edge.setUserEnabled({ userId: BOB, enabled: true }, root)],
    ])('writes an audit entry: %s', async (action, act) => {
      const before = (await list({ action })).length;
      await act();
      const [newest, ...others] = await list({ action });
      expect(others).toHaveLength(before);
      expect(newest?.targetId).toMatch(/^(tok|usr)_[0-9A-Z]{26}$/);
    });

    it('contains no secret', async () => {
      const { value } = await auth.edge.createToken(TOKEN, LOCAL);
      expect(JSON.stringify(await list())).not.toContain(value);
    });
  });

  describe('ListActs RPC', () => {
    beforeEach(() => clock.advance(1_000));

    it('filters by actor, action, target, outcome and time, alone and together', async () => {
      const from = clock.now();
      await record({ targetId: 'env_f1' }, alice);
      await record({ targetId: 'env_f2', action: 'environment.delete', outcome: 'refused' }, alice);
      clock.advance(1_000);
      await record({ targetId: 'env_f1', action: 'environment.update' });
      const targets = async (filter: Partial<ListActsRequest>) =>
        (await list({ from, ...filter }))
          .filter(({ action }) => action !== 'audit.list')
          .map((act) => act.targetId);
      expect(await targets({})).toEqual(['env_f1', 'env_f2', 'env_f1']);
      expect(await targets({ actorId: alice.caller.userId })).toEqual(['env_f2', 'env_f1']);
      expect(await targets({ action: 'environment.delete' })).toEqual(['env_f2']);
      expect(await targets({ targetId: 'env_f1' })).toEqual(['env_f1', 'env_f1']);
      expect(await targets({ outcome: 'refused' })).toEqual(['env_f2']);
      expect(await targets({ until: clock.now() })).toEqual(['env_f2', 'env_f1']);
      expect(await targets({ targetId: 'env_f1', actorId: root.caller.userId })).toEqual(['env_f1']);
      expect(await targets({ from: new Date(clock.now().getTime() + 1) })).toEqual([]);
    });

    it('pages without gaps or duplicates while entries are added', async () => {
      const from = clock.now();
      for (let index = 0; index < 7; index++)
        await record({ targetId: `env_p${index}`, action: 'environment.update' });
      const paged = await list({ from, action: 'environment.update' }, 2);
      expect(paged.map((act) => act.targetId)).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `env_p${index}`));
    });

    it('writes an audit entry for the list itself', async () => {
      const from = clock.now();
      await list({ from });
      expect(await list({ from, action: 'audit.list' })).toMatchObject([{ actorId: root.caller.userId }, {}]);
    });

    it('returns FORBIDDEN to other users than administrators', async () => {
      const page = undefined;
      const filter = {
        actorId: '',
        action: '',
        targetId: '',
        outcome: '',
        from: undefined,
        until: undefined,
      };
      await expect(auth.edge.listActs({ ...filter, page }, alice)).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
      await expect(auth.edge.verifyActs({ afterSeq: 0, limit: 1 }, alice)).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
    });

    it.each([{ action: 'paint' }, { outcome: 'planned' }])('rejects the filter %j', async (filter) => {
      await expect(list(filter)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });
  });

  describe('VerifyActs RPC', () => {
    it('verifies an unchanged log in one or several parts', async () => {
      await record();
      const whole = await verify();
      expect(whole).toMatchObject({ brokenSeq: undefined, complete: true });
      let part = await verify(0, 3);
      while (!part.complete) part = await verify(part.verifiedSeq, 3);
      expect(part).toEqual(whole);
    });

    it('gives the same hashes as the documented computation', async () => {
      const acts = (await list()).reverse();
      let before = '';
      for (const { hash, createdAt, ...act } of acts) {
        const { seq, actorId, credential, action, targetId, outcome, address, requestId, dataJson } = act;
        const time = createdAt?.toISOString();
        const fields = [actorId, credential, action, targetId, outcome, address, requestId, dataJson];
        before = sha256(JSON.stringify([before, seq, time, ...fields]));
        expect(hash).toBe(before);
      }
    });

    it.each([
      ['a changed entry', `update auth.acts set target_id = 'env_other' where seq = 3`, 3],
      [
        'a time that was changed',
        `update auth.acts set created_at = created_at + interval '1 ms' where seq = 3`,
        3,
      ],
      ['a deleted entry', 'delete from auth.acts where seq = 3', 3],
      ['an entry that was changed with its hash', `update auth.acts set hash = sha256('x') where seq = 3`, 3],
      [
        'the newest line taken away',
        'delete from auth.acts where seq = (select max(seq) from auth.acts)',
        undefined,
      ],
      ['the deletion of all entries', 'delete from auth.acts', 1],
    ])('detects %s', async (_, tampering, brokenSeq) => {
      for (let index = 0; index < 4; index++) await record();
      const newest = (await list())[0]?.seq ?? 0;
      await inDatabase(async (client) => {
        await client.query('begin');
        await client.query('create table public.kept as select * from auth.acts');
        await client.query('commit');
        await client.query(tampering);
        try {
          expect((await verify()).brokenSeq).toBe(brokenSeq ?? newest + 1);
        } finally {
          await client.query('delete from auth.acts');
          await client.query('insert into auth.acts select * from public.kept');
          await client.query('drop table public.kept');
        }
      });
      expect(await verify()).toMatchObject({ brokenSeq: undefined });
    });

    it('runs on a table that the database role of the service cannot update or delete from', async () => {
      await inDatabase(async (client) => {
        await client.query('set role ahs_auth');
        for (const statement of [
          `update auth.acts set actor_id = 'usr_other'`,
          'delete from auth.acts',
          'truncate auth.acts',
          'delete from auth.act_head',
          `insert into auth.act_head (one, seq, hash) values (false, 1, '')`,
        ])
          await expect(client.query(statement)).rejects.toThrow('permission denied');
      });
    });
  });
});

describe('createAuditRecorder', () => {
  it.each([
    ['DEPENDENCY_UNAVAILABLE', 'the entry cannot be written', new Error('unreachable')],
    ['CANCELLED', 'the caller has left', refuse('CANCELLED', 'left')],
  ])('fails the action with %s when %s', async (code, _, error) => {
    const recorder = createAuditRecorder({ recordActs: () => Promise.reject(error) });
    const call = { peer: 'edge', caller: undefined, signal: new AbortController().signal, deadline: 0 };
    const whole = { ...call, requestId: undefined, trace: startTrace() };
    await expect(recorder({ action: 'token.create', targetId: '' }, whole)).rejects.toMatchObject({ code });
  });
});

const TOKEN = { name: 'ci', scopes: ['read'], expiresInDays: undefined, idempotencyKey: '' };
