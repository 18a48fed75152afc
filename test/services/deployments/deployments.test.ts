import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  Deployment,
  ListDeploymentsRequest,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import {
  AGENT,
  FOREIGN_AGENT,
  type House,
  named,
  OTHER_AGENT,
  OWNER,
  openHouse,
  STRANGER,
  UNKNOWN_AGENT,
  UNKNOWN_DEPLOYMENT,
} from './house.ts';

const HOUR_MS = 60 * 60 * 1_000;

describe.each(TRANSPORTS)('deployments, %s', (transport) => {
  let house: House;
  const asOwner = { caller: OWNER };
  const asStranger = { caller: STRANGER };

  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());
  beforeEach(() => house.reset());

  function create(changes: Partial<Parameters<House['edge']['createDeployment']>[0]> = {}, caller = OWNER) {
    const request = { agentId: AGENT, type: 'webhook', promptPrefix: undefined, idempotencyKey: '' };
    return house.edge.createDeployment({ ...request, ...changes }, { caller });
  }

  async function list(changes: Partial<ListDeploymentsRequest> = {}, caller = OWNER) {
    const request = { page: { limit: 100, cursor: '' }, agentId: '', q: '', type: '', status: '' };
    return house.edge.listDeployments({ ...request, ...changes }, { caller });
  }

  const idsOf = (deployments: Deployment[]) => deployments.map((deployment) => deployment.deploymentId);

  describe('CreateDeployment', () => {
    it('answers with the webhook, its URL and its secret', async () => {
      const { deployment, sharedSecret, replayed } = await create({ promptPrefix: 'Look at this:' });
      expect(deployment).toEqual({
        deploymentId: expect.stringMatching(/^dep_[0-9A-HJKMNP-TV-Z]{26}$/),
        agentId: AGENT,
        agentName: 'Order desk',
        type: 'webhook',
        authenticationType: 'hmac',
        promptPrefix: 'Look at this:',
        status: 'enabled',
        triggerUrl: `https://agents.example.org/api/v1/deployments/${deployment?.deploymentId}/trigger`,
        createdBy: OWNER.userId,
        createdAt: expect.any(Date),
        updatedAt: deployment?.createdAt,
      });
      expect(sharedSecret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
      expect(replayed).toBe(false);
    });

    it('makes a different secret each time', async () => {
      const secrets = await Promise.all([create(), create(), create()]);
      expect(new Set(secrets.map(({ sharedSecret }) => sharedSecret)).size).toBe(3);
    });

    it('takes an empty prefix for none', async () => {
      const { deployment } = await create({ promptPrefix: '' });
      expect(deployment?.promptPrefix).toBeUndefined();
    });

    it('keeps a prefix of up to 64 KiB as it is', async () => {
      const promptPrefix = `\ufeff \n${'ü'.repeat(32 * 1024 - 5)}\r\n`;
      const { deployment } = await create({ promptPrefix });
      const read = await house.edge.getDeployment(named(deployment!), asOwner);
      expect(read.deployment?.promptPrefix).toBe(promptPrefix);
      await expect(create({ promptPrefix: 'ü'.repeat(32 * 1024 + 1) })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ pointer: '/prompt_prefix' }],
      });
    });

    it('refuses a prefix that cannot be stored', async () => {
      await expect(create({ promptPrefix: 'a\0b' })).rejects.toMatchObject({
        code: 'INVALID_TEXT',
        details: [{ pointer: '/prompt_prefix' }],
      });
    });

    it.each(['', 'schedule', 'Webhook', 'webhook '])('refuses the type %j', async (type) => {
      await expect(create({ type })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ pointer: '/type' }],
      });
    });

    it.each([UNKNOWN_AGENT, FOREIGN_AGENT, '', 'agt_\0'])(
      'refuses the agent %j, which is not the caller’s',
      async (agentId) => {
        await expect(create({ agentId })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
      },
    );

    it('refuses a call without a caller', async () => {
      const request = { agentId: AGENT, type: 'webhook', promptPrefix: undefined, idempotencyKey: '' };
      await expect(house.edge.createDeployment(request)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    });

    it('replays the answer for the same Idempotency-Key, without the secret', async () => {
      const first = await create({ idempotencyKey: 'replayed', promptPrefix: 'p' });
      const second = await create({ idempotencyKey: 'replayed', promptPrefix: 'p' });
      expect(second).toEqual({ deployment: first.deployment, sharedSecret: undefined, replayed: true });
    });

    it('creates one webhook for simultaneous requests with the same key', async () => {
      const before = (await list()).deployments.length;
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => create({ idempotencyKey: 'at once' })),
      );
      expect(new Set(idsOf(answers.map(({ deployment }) => deployment!))).size).toBe(1);
      expect(answers.filter(({ sharedSecret }) => sharedSecret !== undefined)).toHaveLength(1);
      expect((await list()).deployments).toHaveLength(before + 1);
    });

    it('refuses the same key for another request', async () => {
      await create({ idempotencyKey: 'taken' });
      const other = create({ idempotencyKey: 'taken', promptPrefix: 'another' });
      await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
    });

    it('knows keys per caller', async () => {
      const mine = await create({ idempotencyKey: 'everybody’s' });
      const theirs = await create({ idempotencyKey: 'everybody’s', agentId: FOREIGN_AGENT }, STRANGER);
      expect(theirs.replayed).toBe(false);
      expect(theirs.deployment?.deploymentId).not.toBe(mine.deployment?.deploymentId);
    });

    it('forgets a key after a day, also of somebody who does not come again', async () => {
      const clock = createFakeClock();
      await using other = await openHouse(transport, { clock });
      const request = { agentId: AGENT, type: 'webhook', promptPrefix: undefined, idempotencyKey: 'old' };
      const first = await other.edge.createDeployment(request, asOwner);
      const kept = async () => (await other.sql('select key from idempotency_keys')).length;
      expect(await kept()).toBe(1);
      clock.advance(23 * HOUR_MS);
      await until('the key is gone', async () => {
        clock.advance(HOUR_MS);
        return (await kept()) === 0;
      });
      const second = await other.edge.createDeployment(request, asOwner);
      expect(second.replayed).toBe(false);
      expect(second.deployment?.deploymentId).not.toBe(first.deployment?.deploymentId);
    });

    it('leaves the secret nowhere in the database and in no log line', async () => {
      const { sharedSecret = '', deployment } = await create({ idempotencyKey: 'secret' });
      const tables = await house.sql<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = 'deployments'`,
      );
      expect(tables.length).toBeGreaterThan(3);
      const dumps = await Promise.all(
        tables.map(({ name }) =>
          house.sql<{ row: string; bytes: string }>(
            name === 'idempotency_keys'
              ? `select t::text as row, encode(answer, 'escape') as bytes from ${name} t`
              : `select t::text as row, '' as bytes from ${name} t`,
          ),
        ),
      );
      const all = dumps
        .flat()
        .map(({ row, bytes }) => row + bytes)
        .join('\n');
      expect(all).toContain(deployment?.deploymentId);
      for (const form of formsOf(sharedSecret)) {
        expect(all).not.toContain(form);
        expect(house.lines.join('\n')).not.toContain(form);
      }
    });
  });

  describe('GetDeployment', () => {
    it('shows the webhook without its secret', async () => {
      const { deployment, sharedSecret } = await create({ promptPrefix: 'p' });
      const read = await house.edge.getDeployment(named(deployment!), asOwner);
      expect(read).toEqual({ deployment });
      expect(JSON.stringify(read)).not.toContain(sharedSecret);
    });

    it('finds it without naming the agent', async () => {
      const { deployment } = await create();
      const { deploymentId } = deployment!;
      const read = await house.edge.getDeployment({ agentId: '', deploymentId }, asOwner);
      expect(read.deployment?.deploymentId).toBe(deploymentId);
    });

    it('shows a webhook whose agent is deleted, without a name', async () => {
      const { deployment } = await create();
      house.neighbours.agents.delete(AGENT);
      const read = await house.edge.getDeployment(named(deployment!), asOwner);
      expect(read.deployment).toMatchObject({ agentId: AGENT, agentName: '' });
    });
  });

  describe('what is not the caller’s', () => {
    const methods = [
      'getDeployment',
      'updateDeployment',
      'enableDeployment',
      'disableDeployment',
      'deleteDeployment',
    ] as const;

    it.each(methods)('%s refuses it like what is not there', async (method) => {
      const { deployment } = await create();
      const { agentId, deploymentId } = deployment!;
      const attempts = [
        house.edge[method]({ agentId, deploymentId }, asStranger),
        house.edge[method]({ agentId: '', deploymentId }, asStranger),
        house.edge[method]({ agentId: OTHER_AGENT, deploymentId }, asOwner),
        house.edge[method]({ agentId, deploymentId: UNKNOWN_DEPLOYMENT }, asOwner),
        house.edge[method]({ agentId, deploymentId: deploymentId.toLowerCase() }, asOwner),
        house.edge[method]({ agentId, deploymentId: `${deploymentId}\0` }, asOwner),
        house.edge[method]({ agentId: `${agentId}\0`, deploymentId }, asOwner),
        house.edge[method]({ agentId, deploymentId: '' }, asOwner),
      ];
      const outcomes = await Promise.allSettled(attempts);
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({
          reason: { code: 'DEPLOYMENT_NOT_FOUND', message: 'there is no such deployment' },
        });
      }
      const read = await house.edge.getDeployment({ agentId, deploymentId }, asOwner);
      expect(read.deployment?.status).toBe('enabled');
    });

    it('every method refuses a service that the table does not name', async () => {
      const runner = house.connection.as('runner');
      const asked = runner.getDeployment({ agentId: '', deploymentId: UNKNOWN_DEPLOYMENT }, asOwner);
      await expect(asked).rejects.toMatchObject({ code: 'FORBIDDEN' });
    });
  });

  describe('UpdateDeployment', () => {
    it('refuses to change a webhook', async () => {
      const { deployment } = await create();
      const update = house.edge.updateDeployment(named(deployment!), asOwner);
      await expect(update).rejects.toMatchObject({ code: 'DEPLOYMENT_IMMUTABLE' });
    });
  });

  describe('DisableDeployment and EnableDeployment', () => {
    it('change the status and the time of the change, and nothing else', async () => {
      const { deployment } = await create({ promptPrefix: 'p' });
      const disabled = await house.edge.disableDeployment(named(deployment!), asOwner);
      expect(disabled.deployment).toEqual({
        ...deployment,
        status: 'disabled',
        updatedAt: disabled.deployment?.updatedAt,
      });
      expect(disabled.deployment!.updatedAt!.getTime()).toBeGreaterThanOrEqual(
        deployment!.updatedAt!.getTime(),
      );
      const enabled = await house.edge.enableDeployment(named(deployment!), asOwner);
      expect(enabled.deployment).toEqual({ ...deployment, updatedAt: enabled.deployment?.updatedAt });
    });

    it('change nothing when nothing is to change', async () => {
      const { deployment } = await create();
      const enabled = await house.edge.enableDeployment(named(deployment!), asOwner);
      expect(enabled).toEqual({ deployment });
      const disabled = await house.edge.disableDeployment(named(deployment!), asOwner);
      expect(await house.edge.disableDeployment(named(deployment!), asOwner)).toEqual(disabled);
    });

    it('work when the agent is deleted', async () => {
      const { deployment } = await create();
      house.neighbours.agents.delete(AGENT);
      const disabled = await house.edge.disableDeployment(named(deployment!), asOwner);
      expect(disabled.deployment).toMatchObject({ status: 'disabled', agentName: '' });
    });
  });

  describe('DeleteDeployment', () => {
    it('leaves nothing of it', async () => {
      const { deployment } = await create();
      house.neighbours.agents.delete(AGENT);
      await house.edge.deleteDeployment(named(deployment!), asOwner);
      const read = house.edge.getDeployment(named(deployment!), asOwner);
      await expect(read).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
      const again = house.edge.deleteDeployment(named(deployment!), asOwner);
      await expect(again).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
      expect(idsOf((await list()).deployments)).not.toContain(deployment?.deploymentId);
    });
  });

  describe('ListDeployments', () => {
    let mine: string[];

    beforeAll(async () => {
      house.reset();
      await house.sql('delete from deployments');
      const made: Deployment[] = [];
      for (const agentId of [AGENT, OTHER_AGENT, AGENT, OTHER_AGENT, AGENT]) {
        made.push((await create({ agentId })).deployment!);
      }
      await create({ agentId: FOREIGN_AGENT }, STRANGER);
      await house.edge.disableDeployment(named(made[2]!), asOwner);
      mine = idsOf(made.toReversed());
    });

    it('shows the caller’s, newest first, with the names of their agents in one look-up', async () => {
      house.neighbours.calls.clear();
      const { deployments, page } = await list();
      expect(idsOf(deployments)).toEqual(mine);
      expect(deployments.map(({ agentName }) => agentName)).toEqual([
        'Order desk',
        'Night 100%_watch',
        'Order desk',
        'Night 100%_watch',
        'Order desk',
      ]);
      expect(page).toEqual({ nextCursor: '' });
      expect(Object.fromEntries(house.neighbours.calls)).toEqual({ listManagedAgents: 1, lookUpAgents: 1 });
    });

    it('pages without gap or repetition', async () => {
      const seen: string[] = [];
      let cursor = '';
      do {
        const { deployments, page } = await list({ page: { limit: 2, cursor } });
        seen.push(...idsOf(deployments));
        cursor = page!.nextCursor;
      } while (cursor);
      expect(seen).toEqual(mine);
    });

    it('binds a cursor to the filters and the caller', async () => {
      const { page } = await list({ page: { limit: 2, cursor: '' } });
      const { nextCursor: cursor } = page!;
      const strange = [
        list({ page: { limit: 2, cursor }, q: 'desk' }),
        list({ page: { limit: 2, cursor }, agentId: AGENT }),
        list({ page: { limit: 2, cursor }, status: 'enabled' }),
        list({ page: { limit: 2, cursor }, type: 'webhook' }),
        list({ page: { limit: 2, cursor } }, STRANGER),
        list({ page: { limit: 2, cursor: 'nonsense' } }),
      ];
      for (const outcome of await Promise.allSettled(strange)) {
        expect(outcome).toMatchObject({ reason: { code: 'INVALID_CURSOR' } });
      }
    });

    it.each([0, -1, 101])('refuses the limit %i', async (limit) => {
      await expect(list({ page: { limit, cursor: '' } })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });

    it('begins with a page of 50 when none is asked for', async () => {
      expect((await list({ page: undefined })).deployments).toHaveLength(5);
    });

    it('filters by agent, type and status, alone and together', async () => {
      const [newest, , middle, , oldest] = mine as [string, string, string, string, string];
      expect(idsOf((await list({ agentId: AGENT })).deployments)).toEqual([newest, middle, oldest]);
      expect(idsOf((await list({ status: 'disabled' })).deployments)).toEqual([middle]);
      expect(idsOf((await list({ agentId: AGENT, status: 'enabled' })).deployments)).toEqual([
        newest,
        oldest,
      ]);
      expect(idsOf((await list({ type: 'webhook' })).deployments)).toEqual(mine);
      expect((await list({ type: 'schedule' })).deployments).toEqual([]);
      expect(idsOf((await list({ agentId: AGENT, status: 'disabled', q: 'order' })).deployments)).toEqual([
        middle,
      ]);
    });

    it('searches agent name, type and id, in any case and literally', async () => {
      const [newest, second, middle, fourth, oldest] = mine as [string, string, string, string, string];
      expect(idsOf((await list({ q: 'ORDER d' })).deployments)).toEqual([newest, middle, oldest]);
      expect(idsOf((await list({ q: '100%_W' })).deployments)).toEqual([second, fourth]);
      expect(idsOf((await list({ q: 'WebH' })).deployments)).toEqual(mine);
      expect(idsOf((await list({ q: fourth.toLowerCase() })).deployments)).toEqual([fourth]);
      expect(idsOf((await list({ q: middle.slice(20) })).deployments)).toEqual([middle]);
      for (const q of ['100__w', '%', 'Foreign', 'no such', '\\']) {
        expect((await list({ q })).deployments.filter(({ agentName }) => !agentName.includes(q))).toEqual([]);
      }
    });

    it('goes on showing the webhooks of a deleted agent', async () => {
      house.neighbours.agents.delete(OTHER_AGENT);
      const { deployments } = await list({ agentId: OTHER_AGENT });
      expect(deployments.map(({ agentName }) => agentName)).toEqual(['', '']);
    });

    it('has an empty list for an agent without webhooks, and none for what is not the caller’s agent', async () => {
      house.neighbours.agents.set(UNKNOWN_AGENT, { ...house.neighbours.agents.get(AGENT)! });
      expect((await list({ agentId: UNKNOWN_AGENT })).deployments).toEqual([]);
      house.neighbours.agents.delete(UNKNOWN_AGENT);
      for (const agentId of [UNKNOWN_AGENT, FOREIGN_AGENT, 'agt_\0', 'nonsense']) {
        await expect(list({ agentId })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
      }
    });
  });
});

/** A secret can hide in more forms than its own. */
function formsOf(secret: string): string[] {
  const key = secret.slice('whsec_'.length);
  const bytes = Buffer.from(secret);
  return [secret, key, bytes.toString('hex'), bytes.toString('base64').slice(4, -4)];
}
