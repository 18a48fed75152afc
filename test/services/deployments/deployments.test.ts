import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPeerSealer, secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import {
  type Deployment,
  DeploymentsServiceDefinition,
  type ListDeploymentsRequest,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import {
  AGENT,
  type DeploymentsSystem,
  FOREIGN_AGENT,
  NO_SCHEDULE,
  OTHER_AGENT,
  OWNER,
  openDeploymentsSystem,
  referenceTo,
  STRANGER,
  UNKNOWN_AGENT,
  UNKNOWN_DEPLOYMENT,
} from './system.ts';

const HOUR_MS = 60 * 60 * 1_000;

describe.each(TRANSPORTS)('deployments service, %s', (transport) => {
  let system: DeploymentsSystem;
  const asOwner = { caller: OWNER };
  const asStranger = { caller: STRANGER };

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => system.reset());

  function create(
    changes: Partial<Parameters<DeploymentsSystem['edge']['createDeployment']>[0]> = {},
    caller = OWNER,
  ) {
    const request = {
      agentId: AGENT,
      type: 'webhook',
      promptPrefix: undefined,
      ...NO_SCHEDULE,
      idempotencyKey: '',
    };
    return system.edge.createDeployment({ ...request, ...changes }, { caller });
  }

  async function list(changes: Partial<ListDeploymentsRequest> = {}, caller = OWNER) {
    const request = { page: { limit: 100, cursor: '' }, agentId: '', q: '', type: '', status: '' };
    return system.edge.listDeployments({ ...request, ...changes }, { caller });
  }

  const idsOf = (deployments: Deployment[]) => deployments.map((deployment) => deployment.deploymentId);

  describe('CreateDeployment', () => {
    it('returns the webhook, its URL and its secret', async () => {
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
        ...NO_SCHEDULE,
        revision: 0,
        scheduleStatus: undefined,
      });
      expect(sharedSecret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
      expect(replayed).toBe(false);
    });

    it('seals the secret for a caller that opens sealed members', async () => {
      const request = {
        agentId: AGENT,
        type: 'webhook',
        promptPrefix: undefined,
        ...NO_SCHEDULE,
        idempotencyKey: 'sealed',
        acceptsSealedSecret: true,
      };
      const call = { caller: OWNER, requestId: 'req_1' };
      const created = await system.edge.createDeployment(request, call);
      expect(created.sharedSecret).toBeUndefined();
      const received = {
        contract: DeploymentsServiceDefinition,
        method: 'createDeployment',
        peer: 'deployments',
        requestId: 'req_1',
      } as const;
      const sealer = createPeerSealer('edge', system.context.serviceSecret);
      const secrets = secretsIn(sealer.open(created.sealedSharedSecret, received));
      expect(secrets.shared_secret?.reveal()).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
      // The repetition comes from an edge of the previous release.
      const repeated = await system.edge.createDeployment(
        { ...request, acceptsSealedSecret: undefined },
        call,
      );
      expect(repeated).toMatchObject({ replayed: true, deployment: created.deployment });
      expect([repeated.sharedSecret, repeated.sealedSharedSecret]).toEqual([undefined, undefined]);
    });

    it('creates a different secret for every webhook', async () => {
      const secrets = await Promise.all([create(), create(), create()]);
      expect(new Set(secrets.map(({ sharedSecret }) => sharedSecret)).size).toBe(3);
    });

    it('treats an empty prefix as no prefix', async () => {
      const { deployment } = await create({ promptPrefix: '' });
      expect(deployment?.promptPrefix).toBeUndefined();
    });

    it('stores a prefix of up to 64 KiB unchanged', async () => {
      const promptPrefix = `\ufeff \n${'ü'.repeat(32 * 1024 - 5)}\r\n`;
      const { deployment } = await create({ promptPrefix });
      const read = await system.edge.getDeployment(referenceTo(deployment!), asOwner);
      expect(read.deployment?.promptPrefix).toBe(promptPrefix);
      await expect(create({ promptPrefix: 'ü'.repeat(32 * 1024 + 1) })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ pointer: '/prompt_prefix' }],
      });
    });

    it('rejects a prefix with a NUL or a lone surrogate', async () => {
      await expect(create({ promptPrefix: 'a\0b' })).rejects.toMatchObject({
        code: 'INVALID_TEXT',
        details: [{ pointer: '/prompt_prefix' }],
      });
    });

    it.each(['', 'channels', 'Webhook', 'webhook '])('rejects the type %j', async (type) => {
      await expect(create({ type })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ pointer: '/type' }],
      });
    });

    it.each([UNKNOWN_AGENT, FOREIGN_AGENT, '', 'agt_\0'])(
      'returns AGENT_NOT_FOUND for the agent %j',
      async (agentId) => {
        await expect(create({ agentId })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
      },
    );

    it('rejects a call without a caller', async () => {
      const request = {
        agentId: AGENT,
        type: 'webhook',
        promptPrefix: undefined,
        ...NO_SCHEDULE,
        idempotencyKey: '',
      };
      await expect(system.edge.createDeployment(request)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    });

    it('replays the response for the same Idempotency-Key without the secret', async () => {
      const first = await create({ idempotencyKey: 'replayed', promptPrefix: 'p' });
      const second = await create({ idempotencyKey: 'replayed', promptPrefix: 'p' });
      expect(second).toEqual({ deployment: first.deployment, sharedSecret: undefined, replayed: true });
    });

    it('creates one webhook for concurrent requests with the same key', async () => {
      const before = (await list()).deployments.length;
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => create({ idempotencyKey: 'at once' })),
      );
      expect(new Set(idsOf(answers.map(({ deployment }) => deployment!))).size).toBe(1);
      expect(answers.filter(({ sharedSecret }) => sharedSecret !== undefined)).toHaveLength(1);
      expect((await list()).deployments).toHaveLength(before + 1);
    });

    it('rejects the same key for another request', async () => {
      await create({ idempotencyKey: 'taken' });
      const other = create({ idempotencyKey: 'taken', promptPrefix: 'another' });
      await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
    });

    it('keeps the keys of different callers apart', async () => {
      const mine = await create({ idempotencyKey: 'everybody’s' });
      const theirs = await create({ idempotencyKey: 'everybody’s', agentId: FOREIGN_AGENT }, STRANGER);
      expect(theirs.replayed).toBe(false);
      expect(theirs.deployment?.deploymentId).not.toBe(mine.deployment?.deploymentId);
    });

    it('deletes a key after one day', async () => {
      const clock = createFakeClock();
      await using other = await openDeploymentsSystem(transport, { clock });
      const request = {
        agentId: AGENT,
        type: 'webhook',
        promptPrefix: undefined,
        ...NO_SCHEDULE,
        idempotencyKey: 'old',
      };
      const first = await other.edge.createDeployment(request, asOwner);
      const keyCount = async () => (await other.sql('select key from idempotency_keys')).length;
      expect(await keyCount()).toBe(1);
      clock.advance(23 * HOUR_MS);
      await until('the key is deleted', async () => {
        clock.advance(HOUR_MS);
        return (await keyCount()) === 0;
      });
      const second = await other.edge.createDeployment(request, asOwner);
      expect(second.replayed).toBe(false);
      expect(second.deployment?.deploymentId).not.toBe(first.deployment?.deploymentId);
    });

    it('writes the secret neither to the database nor to the log', async () => {
      const { sharedSecret = '', deployment } = await create({ idempotencyKey: 'secret' });
      const tables = await system.sql<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = 'deployments'`,
      );
      expect(tables.length).toBeGreaterThan(3);
      const dumps = await Promise.all(
        tables.map(({ name }) =>
          system.sql<{ row: string; bytes: string }>(
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
        expect(system.lines.join('\n')).not.toContain(form);
      }
    });
  });

  describe('GetDeployment', () => {
    it('returns the webhook without its secret', async () => {
      const { deployment, sharedSecret } = await create({ promptPrefix: 'p' });
      const read = await system.edge.getDeployment(referenceTo(deployment!), asOwner);
      expect(read).toEqual({ deployment });
      expect(JSON.stringify(read)).not.toContain(sharedSecret);
    });

    it('returns the webhook without an agent id in the request', async () => {
      const { deployment } = await create();
      const { deploymentId } = deployment!;
      const read = await system.edge.getDeployment({ agentId: '', deploymentId }, asOwner);
      expect(read.deployment?.deploymentId).toBe(deploymentId);
    });

    it('returns a webhook of a deleted agent with an empty agent name', async () => {
      const { deployment } = await create();
      system.fakes.agents.delete(AGENT);
      const read = await system.edge.getDeployment(referenceTo(deployment!), asOwner);
      expect(read.deployment).toMatchObject({ agentId: AGENT, agentName: '' });
    });
  });

  describe('access of other users and services', () => {
    const methods = [
      'getDeployment',
      'updateDeployment',
      'enableDeployment',
      'disableDeployment',
      'deleteDeployment',
    ] as const;

    it.each(methods)(
      '%s returns the same refusal for the deployment of another user as for an unknown one',
      async (method) => {
        const { deployment } = await create();
        const { agentId, deploymentId } = deployment!;
        const attempts = [
          system.edge[method](referenceTo({ agentId, deploymentId }), asStranger),
          system.edge[method](referenceTo({ agentId: '', deploymentId }), asStranger),
          system.edge[method](referenceTo({ agentId: OTHER_AGENT, deploymentId }), asOwner),
          system.edge[method](referenceTo({ agentId, deploymentId: UNKNOWN_DEPLOYMENT }), asOwner),
          system.edge[method](referenceTo({ agentId, deploymentId: deploymentId.toLowerCase() }), asOwner),
          system.edge[method](referenceTo({ agentId, deploymentId: `${deploymentId}\0` }), asOwner),
          system.edge[method](referenceTo({ agentId: `${agentId}\0`, deploymentId }), asOwner),
          system.edge[method](referenceTo({ agentId, deploymentId: '' }), asOwner),
        ];
        const outcomes = await Promise.allSettled(attempts);
        for (const outcome of outcomes) {
          expect(outcome).toMatchObject({
            reason: { code: 'DEPLOYMENT_NOT_FOUND', message: 'Unknown deployment.' },
          });
        }
        const read = await system.edge.getDeployment({ agentId, deploymentId }, asOwner);
        expect(read.deployment?.status).toBe('enabled');
      },
    );

    it('every method rejects an unlisted service', async () => {
      const runner = system.connection.as('runner');
      const request = runner.getDeployment({ agentId: '', deploymentId: UNKNOWN_DEPLOYMENT }, asOwner);
      await expect(request).rejects.toMatchObject({ code: 'FORBIDDEN' });
    });
  });

  describe('UpdateDeployment', () => {
    it('returns DEPLOYMENT_IMMUTABLE', async () => {
      const { deployment } = await create();
      const update = system.edge.updateDeployment(referenceTo(deployment!), asOwner);
      await expect(update).rejects.toMatchObject({ code: 'DEPLOYMENT_IMMUTABLE' });
    });
  });

  describe('DisableDeployment and EnableDeployment', () => {
    it('change only the status and the time of the change', async () => {
      const { deployment } = await create({ promptPrefix: 'p' });
      const disabled = await system.edge.disableDeployment(referenceTo(deployment!), asOwner);
      expect(disabled.deployment).toEqual({
        ...deployment,
        status: 'disabled',
        updatedAt: disabled.deployment?.updatedAt,
      });
      expect(disabled.deployment!.updatedAt!.getTime()).toBeGreaterThanOrEqual(
        deployment!.updatedAt!.getTime(),
      );
      const enabled = await system.edge.enableDeployment(referenceTo(deployment!), asOwner);
      expect(enabled.deployment).toEqual({ ...deployment, updatedAt: enabled.deployment?.updatedAt });
    });

    it('change nothing when the status is the same', async () => {
      const { deployment } = await create();
      const enabled = await system.edge.enableDeployment(referenceTo(deployment!), asOwner);
      expect(enabled).toEqual({ deployment });
      const disabled = await system.edge.disableDeployment(referenceTo(deployment!), asOwner);
      expect(await system.edge.disableDeployment(referenceTo(deployment!), asOwner)).toEqual(disabled);
    });

    it('work when the agent is deleted', async () => {
      const { deployment } = await create();
      system.fakes.agents.delete(AGENT);
      const disabled = await system.edge.disableDeployment(referenceTo(deployment!), asOwner);
      expect(disabled.deployment).toMatchObject({ status: 'disabled', agentName: '' });
    });
  });

  describe('DeleteDeployment', () => {
    it('deletes the deployment and its log', async () => {
      const { deployment } = await create();
      system.fakes.agents.delete(AGENT);
      await system.edge.deleteDeployment(referenceTo(deployment!), asOwner);
      const read = system.edge.getDeployment(referenceTo(deployment!), asOwner);
      await expect(read).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
      const again = system.edge.deleteDeployment(referenceTo(deployment!), asOwner);
      await expect(again).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
      expect(idsOf((await list()).deployments)).not.toContain(deployment?.deploymentId);
    });
  });

  describe('ListDeployments', () => {
    let mine: string[];

    beforeAll(async () => {
      system.reset();
      await system.sql('delete from deployments');
      const made: Deployment[] = [];
      for (const agentId of [AGENT, OTHER_AGENT, AGENT, OTHER_AGENT, AGENT]) {
        made.push((await create({ agentId })).deployment!);
      }
      await create({ agentId: FOREIGN_AGENT }, STRANGER);
      await system.edge.disableDeployment(referenceTo(made[2]!), asOwner);
      mine = idsOf(made.toReversed());
    });

    it('returns the deployments of the caller, newest first, with agent names from one lookup', async () => {
      system.fakes.calls.clear();
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
      expect(Object.fromEntries(system.fakes.calls)).toEqual({ listManagedAgents: 1, lookUpAgents: 1 });
    });

    it('pages without gaps or duplicates', async () => {
      const seen: string[] = [];
      let cursor = '';
      do {
        const { deployments, page } = await list({ page: { limit: 2, cursor } });
        seen.push(...idsOf(deployments));
        cursor = page!.nextCursor;
      } while (cursor);
      expect(seen).toEqual(mine);
    });

    it('returns INVALID_CURSOR for other filters or another caller', async () => {
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

    it.each([0, -1, 101])('rejects the limit %i', async (limit) => {
      await expect(list({ page: { limit, cursor: '' } })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });

    it('returns a page of 50 by default', async () => {
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

    it('searches agent name, type and id literally and ignores case', async () => {
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

    it('returns the webhooks of a deleted agent', async () => {
      system.fakes.agents.delete(OTHER_AGENT);
      const { deployments } = await list({ agentId: OTHER_AGENT });
      expect(deployments.map(({ agentName }) => agentName)).toEqual(['', '']);
    });

    it('returns an empty list for an agent without webhooks, and AGENT_NOT_FOUND for the agent of another user', async () => {
      system.fakes.agents.set(UNKNOWN_AGENT, { ...system.fakes.agents.get(AGENT)! });
      expect((await list({ agentId: UNKNOWN_AGENT })).deployments).toEqual([]);
      system.fakes.agents.delete(UNKNOWN_AGENT);
      for (const agentId of [UNKNOWN_AGENT, FOREIGN_AGENT, 'agt_\0', 'nonsense']) {
        await expect(list({ agentId })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
      }
    });
  });
});

/** Encodings in which a secret could appear. */
function formsOf(secret: string): string[] {
  const key = secret.slice('whsec_'.length);
  const bytes = Buffer.from(secret);
  return [secret, key, bytes.toString('hex'), bytes.toString('base64').slice(4, -4)];
}
