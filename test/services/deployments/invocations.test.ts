import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Invocation, TriggerRequest } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import {
  AGENT,
  type DeploymentsSystem,
  OTHER_AGENT,
  OWNER,
  openDeploymentsSystem,
  referenceTo,
  STRANGER,
  sign,
  UNKNOWN_DEPLOYMENT,
} from './system.ts';

/** The log is written once a second. A fake clock avoids the wait. */
const clock: Clock = {
  now: systemClock.now,
  after: (ms, callback) => systemClock.after(ms > 1_000 ? ms : 20, callback),
};
const asOwner = { caller: OWNER };
const REQUEST = 'req_01M7XYC91CC5TE06JQWDWRTJVA';

describe.each(TRANSPORTS)('ListInvocations RPC, %s', (transport) => {
  let system: DeploymentsSystem;
  type Webhook = Awaited<ReturnType<DeploymentsSystem['create']>>;

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => {
    system.reset();
    system.fakes.failures.length = 0;
  });

  function list({ deployment }: Webhook, page = { limit: 100, cursor: '' }, caller = OWNER) {
    return system.edge.listInvocations({ ...referenceTo(deployment), page }, { caller });
  }

  /** Sends a request and ignores its result. The tests read the log. */
  async function send(webhook: Webhook, changes: Partial<TriggerRequest> = {}, body = '{}') {
    await system.edge.trigger(system.signed(webhook, body, changes), { requestId: REQUEST }).catch(() => {});
  }

  /** Returns the log when its rows stand for that many requests. */
  async function logged(webhook: Webhook, calls: number): Promise<Invocation[]> {
    return until(`${calls} calls are logged`, async () => {
      const { invocations } = await list(webhook);
      const sum = invocations.reduce((total, { count }) => total + count, 0);
      return sum === calls ? invocations : undefined;
    });
  }

  it('returns an empty list for a new webhook', async () => {
    expect(await list(await system.create())).toEqual({ invocations: [], page: { nextCursor: '' } });
  });

  it('returns an accepted request with its session and request id', async () => {
    const webhook = await system.create();
    const { sessionId } = await system.edge.trigger(system.signed(webhook, 'hello'), { requestId: REQUEST });
    const { invocations } = await list(webhook);
    expect(invocations).toEqual([
      {
        invocationId: sessionId.replace('ses_', 'inv_'),
        createdAt: new Date(0),
        result: 'accepted',
        reason: '',
        bodyBytes: 5,
        sourceAddress: '203.0.113.7',
        sessionId,
        count: 1,
        requestId: REQUEST,
      },
    ]);
  });

  it('returns a refused request with size, address, reason and request id', async () => {
    const webhook = await system.create();
    await send(webhook, { signatures: [] }, 'hello');
    expect(await logged(webhook, 1)).toEqual([
      {
        invocationId: expect.stringMatching(/^inv_[0-9A-HJKMNP-TV-Z]{26}$/),
        createdAt: expect.any(Date),
        result: 'refused',
        reason: 'missing_signature',
        bodyBytes: 5,
        sourceAddress: '203.0.113.7',
        sessionId: '',
        count: 1,
        requestId: REQUEST,
      },
    ]);
  });

  it('is counted by result, and requests to unknown webhooks are, too', async () => {
    const counts = async () => {
      const text = await system.context.metrics.text();
      return Object.fromEntries(
        Array.from(text.matchAll(/^ahs_trigger_invocations_total\{result="(\w+)"\} (\d+)$/gm), (line) => [
          line[1],
          Number(line[2]),
        ]),
      );
    };
    const before = await counts();
    const webhook = await system.create();
    await send(webhook);
    await send(webhook, { signatures: [] });
    await send(webhook, { deploymentId: UNKNOWN_DEPLOYMENT });
    const after = await counts();
    for (const result of ['accepted', 'missing_signature', 'not_found'])
      expect(after[result]).toBe((before[result] ?? 0) + 1);
  });

  it('returns every reason, in the order of the requests', async () => {
    const webhook = await system.create();
    const [timestamp = ''] = system.signed(webhook).timestamps;
    const stale = String(Number(timestamp) + 400);
    const signature = sign(webhook.secret, timestamp, Buffer.from('{}'));
    const { bus } = system.context;
    await send(webhook, { timestamps: [] });
    await send(webhook, { timestamps: [timestamp, timestamp] });
    await send(webhook, { timestamps: ['soon'] });
    await send(webhook, {
      timestamps: [stale],
      signatures: [sign(webhook.secret, stale, Buffer.from('{}'))],
    });
    await send(webhook, { signatures: [] });
    await send(webhook, { signatures: [signature, signature] });
    await send(webhook, { signatures: ['?'] });
    await send(webhook, { body: Buffer.from('{ }') });
    await send(webhook, { body: Buffer.alloc(0), oversize: true });
    system.fakes.agents.get(AGENT)!.enabled = false;
    bus.publish('agents.changed', AGENT);
    await send(webhook);
    Object.assign(system.fakes.agents.get(AGENT)!, { enabled: true, environmentDisabled: true });
    bus.publish('agents.changed', AGENT);
    await send(webhook);
    system.fakes.agents.delete(AGENT);
    bus.publish('agents.changed', AGENT);
    await send(webhook);
    system.fakes.users.set(OWNER.userId, { enabled: false });
    bus.publish('users.changed', OWNER.userId);
    await send(webhook);
    system.reset();
    for (const code of ['INTERNAL', 'DEADLINE_EXCEEDED', 'STORAGE_FULL'] as const) {
      system.fakes.failures.push({ refusal: refuse(code, 'failed'), created: false });
      await send(webhook);
    }
    await system.edge.disableDeployment(referenceTo(webhook.deployment), asOwner);
    await send(webhook, { signatures: [] });
    const reasons = (await logged(webhook, 17)).map(({ reason }) => reason);
    expect(reasons.toReversed()).toEqual([
      'missing_timestamp',
      'duplicate_timestamp',
      'malformed_timestamp',
      'stale_timestamp',
      'missing_signature',
      'duplicate_signature',
      'malformed_signature',
      'bad_signature',
      'too_large',
      'agent_disabled',
      'environment_disabled',
      'agent_deleted',
      'owner_disabled',
      'unavailable',
      'unavailable',
      'unavailable',
      'disabled',
    ]);
  });

  it('counts a flood of requests completely in few rows', async () => {
    const webhook = await system.create();
    const calls = Array.from({ length: 1_000 }, (_, n) =>
      send(webhook, n % 2 ? { signatures: [] } : { timestamps: [] }),
    );
    await Promise.all(calls);
    const rows = await logged(webhook, 1_000);
    // The burst of 20, one row per second since, and at most two reasons in two minutes.
    expect(rows.length).toBeLessThan(50);
    const many = rows.filter(({ count }) => count > 1);
    expect(new Set(many.map(({ reason }) => reason))).toEqual(
      new Set(['missing_signature', 'missing_timestamp']),
    );
  });

  it('adds a later flood of the same minute to the existing row', async () => {
    const webhook = await system.create();
    for (const total of [200, 400]) {
      await Promise.all(Array.from({ length: 200 }, () => send(webhook, { signatures: [] })));
      await logged(webhook, total);
    }
    const slots = await system.sql<{ rows: number }>(
      `select count(*)::int as rows from refusals where deployment_id = $1 and count > 1`,
      [webhook.deployment.deploymentId],
    );
    expect(slots[0]?.rows).toBeLessThanOrEqual(2);
  });

  it('keeps the newest 1,000 rows of refused requests', async () => {
    const webhook = await system.create();
    const other = await system.create();
    for (const { deployment } of [webhook, other]) {
      await system.sql(
        `insert into refusals select $1, 'inv_0' || lpad(n::text, 25, '0'), 'inv_0' || lpad(n::text, 25, '0'),
           'bad_signature', 1, 0, '', now() from generate_series(1, 1200) n`,
        [deployment.deploymentId],
      );
    }
    await send(webhook, { signatures: [] });
    const storedRows = async ({ deployment }: Webhook) => {
      const [row] = await system.sql<{ rows: number; first: string }>(
        'select count(*)::int as rows, min(invocation_id) as first from refusals where deployment_id = $1',
        [deployment.deploymentId],
      );
      return row;
    };
    await until('the oldest rows are deleted', async () => (await storedRows(webhook))?.rows !== 1_200);
    expect(await storedRows(webhook)).toEqual({ rows: 1_000, first: `inv_0${'202'.padStart(25, '0')}` });
    expect((await storedRows(other))?.rows).toBe(1_200);
  });

  it('does not log requests to unknown deployments', async () => {
    const webhook = await system.create();
    const { deploymentId } = webhook.deployment;
    await send(webhook, { deploymentId: UNKNOWN_DEPLOYMENT });
    await send(webhook, { deploymentId: 'nonsense' });
    await send(webhook, { signatures: [] });
    await logged(webhook, 1);
    await send(webhook, { signatures: [] });
    await system.edge.deleteDeployment(referenceTo(webhook.deployment), asOwner);
    const witness = await system.create();
    await send(witness, { signatures: [] });
    await logged(witness, 1);
    const rows = await system.sql('select from refusals where deployment_id in ($1, $2, $3)', [
      deploymentId,
      UNKNOWN_DEPLOYMENT,
      'nonsense',
    ]);
    expect(rows).toEqual([]);
  });

  it('pages through accepted and refused requests together, newest first', async () => {
    const webhook = await system.create();
    const other = await system.create();
    const expected: string[] = [];
    for (const result of 'raarrraaarara') {
      await send(other);
      await send(webhook, result === 'a' ? {} : { signatures: [] });
      expected.unshift(result === 'a' ? 'accepted' : 'refused');
    }
    const all = await logged(webhook, expected.length);
    expect(all.map(({ result }) => result)).toEqual(expected);
    for (const limit of [1, 2, 5, 12, 13, 14]) {
      const seen: Invocation[] = [];
      let pages = 0;
      let cursor = '';
      do {
        const answer = await list(webhook, { limit, cursor });
        expect(answer.invocations.length).toBeGreaterThan(0);
        seen.push(...answer.invocations);
        pages++;
        cursor = answer.page!.nextCursor;
      } while (cursor);
      expect(seen).toEqual(all);
      expect(pages).toBe(Math.ceil(all.length / limit));
    }
  });

  it('rejects the cursor of another webhook and a limit above 100', async () => {
    const webhook = await system.create();
    const other = await system.create();
    await send(webhook);
    await send(webhook);
    const { page } = await list(webhook, { limit: 1, cursor: '' });
    const { nextCursor: cursor } = page!;
    await expect(list(other, { limit: 1, cursor })).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    await expect(list(webhook, { limit: 101, cursor: '' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('returns DEPLOYMENT_NOT_FOUND to other users and under other agents', async () => {
    const webhook = await system.create();
    const page = { limit: 1, cursor: '' };
    const { deploymentId } = webhook.deployment;
    await expect(list(webhook, page, STRANGER)).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
    const elsewhere = system.edge.listInvocations({ agentId: OTHER_AGENT, deploymentId, page }, asOwner);
    await expect(elsewhere).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
  });
});

describe('stop of the deployments service', () => {
  it('writes the remaining refused requests', async () => {
    await using system = await openDeploymentsSystem('in process');
    const webhook = await system.create();
    const call = system.edge.trigger(system.signed(webhook, '{}', { signatures: [] }));
    await expect(call).rejects.toMatchObject({ code: 'DEPLOYMENT_UNAUTHORIZED' });
    await system.stop();
    expect(await system.sql('select reason from refusals')).toEqual([{ reason: 'missing_signature' }]);
  });
});
