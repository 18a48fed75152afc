import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { TriggerRequest } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { CreateSessionRequest } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { AGENT, type House, named, OWNER, openHouse, sign, UNKNOWN_DEPLOYMENT } from './house.ts';

const asOwner = { caller: OWNER };
const NOT_FOUND = { code: 'DEPLOYMENT_NOT_FOUND', message: 'there is no such deployment' };
const UNAUTHORIZED = { code: 'DEPLOYMENT_UNAUTHORIZED', message: 'invalid webhook signature' };
const CANNOT_START = { code: 'DEPLOYMENT_CANNOT_START' };

describe.each(TRANSPORTS)('Trigger, %s', (transport) => {
  let house: House;

  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());
  beforeEach(() => {
    house.reset();
    house.neighbours.sessions.clear();
    house.neighbours.failures.length = 0;
    house.neighbours.held.clear();
    house.neighbours.calls.clear();
  });

  function begun(): CreateSessionRequest[] {
    return [...house.neighbours.sessions.values()];
  }

  describe('a call that is signed', () => {
    it('begins a session of the creator with the agent’s version', async () => {
      const webhook = await house.create();
      const answer = await house.edge.trigger(house.signed(webhook, '{"a": 1}'));
      expect(begun()).toEqual([
        {
          invocationId: expect.stringMatching(/^inv_[0-9A-HJKMNP-TV-Z]{26}$/),
          deploymentId: webhook.deployment.deploymentId,
          agentId: AGENT,
          agentVersion: 7,
          ownerId: OWNER.userId,
          text: '{"a": 1}',
          bodyBytes: 8,
          sourceAddress: '203.0.113.7',
        },
      ]);
      expect(answer).toEqual({
        deploymentId: webhook.deployment.deploymentId,
        sessionId: begun()[0]!.invocationId.replace('inv_', 'ses_'),
      });
    });

    it('begins a session of its own each time, however often it is repeated', async () => {
      const webhook = await house.create();
      const request = house.signed(webhook);
      const answers = await Promise.all(Array.from({ length: 20 }, () => house.edge.trigger(request)));
      expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(20);
      expect(begun()).toHaveLength(20);
    });

    it('is accepted at both ends of the window', async () => {
      const webhook = await house.create();
      const now = Math.floor(house.context.clock.now().getTime() / 1000);
      const body = Buffer.from('{}');
      for (const timestamp of [now - 298, now + 298].map(String)) {
        const signatures = [sign(webhook.secret, timestamp, body)];
        await house.edge.trigger(house.signed(webhook, body, { timestamps: [timestamp], signatures }));
      }
      expect(begun()).toHaveLength(2);
    });

    it.each<[string, Uint8Array, string]>([
      ['empty', Buffer.alloc(0), ''],
      ['JSON, unchanged', Buffer.from('{ "b" : 1,\r\n"a":"\\u00fc" }\n'), '{ "b" : 1,\r\n"a":"\\u00fc" }\n'],
      ['with a NUL', Buffer.from('a\0b'), 'a\0b'],
      ['with a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x61]), '\ufeffa'],
      ['only a byte order mark', Buffer.from([0xef, 0xbb, 0xbf]), '\ufeff'],
      ['not UTF-8', Buffer.from([0x61, 0xff, 0x62, 0xc3]), 'a\ufffdb\ufffd'],
      ['cut within a character', Buffer.from('🚀').subarray(0, 3), '\ufffd'],
      ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80]), '\ufffd\ufffd\ufffd'],
      ['overlong', Buffer.from([0xc0, 0x80]), '\ufffd\ufffd'],
      ['UTF-16', Buffer.from('hi', 'utf16le'), 'h\0i\0'],
    ])('hands over a body that is %s', async (_, body, text) => {
      const plain = await house.create();
      await house.edge.trigger(house.signed(plain, body));
      const prefixed = await house.create('Look:\n ');
      await house.edge.trigger(house.signed(prefixed, body));
      expect(begun().map((session) => session.text)).toEqual([text, `Look:\n \n\n${text}`]);
      expect(begun().map((session) => session.bodyBytes)).toEqual([body.length, body.length]);
    });

    it('hands over megabytes', async () => {
      const body = Buffer.from('ü'.repeat(2 * 1024 * 1024));
      await house.edge.trigger(house.signed(await house.create(), body));
      expect(begun()[0]?.text).toBe(body.toString());
    });
  });

  describe('the order of the checks', () => {
    const everythingWrong = { oversize: true, timestamps: ['x'], signatures: [] };

    it('1: what is unknown, deleted or disabled is not found, and they look the same', async () => {
      const deleted = await house.create();
      await house.edge.deleteDeployment(named(deleted.deployment), asOwner);
      const disabled = await house.create();
      await house.edge.disableDeployment(named(disabled.deployment), asOwner);
      for (const changes of [{}, everythingWrong]) {
        const attempts = [
          house.edge.trigger(house.signed(deleted, '{}', changes)),
          house.edge.trigger(house.signed(disabled, '{}', changes)),
          ...['', 'x', UNKNOWN_DEPLOYMENT, `${UNKNOWN_DEPLOYMENT}\0`, '../x'].map((deploymentId) =>
            house.edge.trigger(house.signed(disabled, '{}', { ...changes, deploymentId })),
          ),
        ];
        for (const outcome of await Promise.allSettled(attempts)) {
          expect(outcome).toMatchObject({ reason: NOT_FOUND });
        }
      }
    });

    it('2: what is too large is refused before its signature is looked at', async () => {
      const webhook = await house.create();
      house.neighbours.agents.delete(AGENT);
      const limit = 4 * 1024 * 1024;
      const attempts = [
        house.edge.trigger(house.signed(webhook, '', everythingWrong)),
        house.edge.trigger(house.signed(webhook, '', { oversize: true })),
        house.edge.trigger(house.signed(webhook, Buffer.alloc(limit + 1, 'a'), { signatures: [] })),
        house.edge.trigger(house.signed(webhook, Buffer.alloc(limit + 1, 'a'))),
      ];
      for (const outcome of await Promise.allSettled(attempts)) {
        expect(outcome).toMatchObject({ reason: { code: 'PAYLOAD_TOO_LARGE' } });
      }
      house.reset();
      await house.edge.trigger(house.signed(webhook, Buffer.alloc(limit, 'a')));
    });

    it('3: whatever is wrong with timestamp or signature, the answer is the same', async () => {
      const webhook = await house.create();
      const other = await house.create();
      house.neighbours.agents.delete(AGENT);
      const { timestamps, signatures } = house.signed(webhook);
      const [timestamp = ''] = timestamps;
      const stale = String(Number(timestamp) - 310);
      const wrong: Partial<TriggerRequest>[] = [
        { timestamps: [] },
        { signatures: [] },
        { timestamps: [], signatures: [] },
        { timestamps: [timestamp, timestamp] },
        { signatures: [...signatures, ...signatures] },
        { timestamps: [`+${timestamp}`] },
        { timestamps: [stale], signatures: [sign(webhook.secret, stale, Buffer.from('{}'))] },
        { signatures: ['AAAA'] },
        { signatures: [sign(other.secret, timestamp, Buffer.from('{}'))] },
        { body: Buffer.from('{ }') },
      ];
      for (const changes of wrong) {
        await expect(house.edge.trigger(house.signed(webhook, '{}', changes))).rejects.toMatchObject(
          UNAUTHORIZED,
        );
      }
      expect(begun()).toEqual([]);
      expect(house.neighbours.calls.get('resolveAgent')).toBeUndefined();
    });

    it('4: then agent, its environment and owner must be there and enabled', async () => {
      const webhook = await house.create();
      const call = () => house.edge.trigger(house.signed(webhook));
      const agent = house.neighbours.agents.get(AGENT)!;
      const { bus } = house.context;
      const attempts: [change: () => void, hint: () => void][] = [
        [() => Object.assign(agent, { enabled: false }), () => bus.publish('agents.changed', AGENT)],
        [
          () => Object.assign(agent, { homeless: true }),
          () => bus.publish('environments.changed', 'env_00000000000000000000000000'),
        ],
        [() => house.neighbours.agents.delete(AGENT), () => bus.publish('agents.changed', AGENT)],
        [
          () => house.neighbours.users.set(OWNER.userId, { enabled: false }),
          () => bus.publish('users.changed', OWNER.userId),
        ],
        [() => house.neighbours.users.delete(OWNER.userId), () => bus.publish('users.changed', OWNER.userId)],
      ];
      for (const [change, hint] of attempts) {
        house.reset();
        Object.assign(agent, { enabled: true, homeless: false });
        house.neighbours.agents.set(AGENT, agent);
        await call();
        change();
        hint();
        await expect(call()).rejects.toMatchObject(CANNOT_START);
      }
      expect(begun()).toHaveLength(attempts.length);
    });
  });

  describe('a change', () => {
    it('has taken effect when disable, enable or delete is answered', async () => {
      const webhook = await house.create();
      const call = () => house.edge.trigger(house.signed(webhook));
      for (let round = 0; round < 10; round++) {
        await call();
        await house.edge.disableDeployment(named(webhook.deployment), asOwner);
        await expect(call()).rejects.toMatchObject(NOT_FOUND);
        await house.edge.enableDeployment(named(webhook.deployment), asOwner);
      }
      await call();
      await house.edge.deleteDeployment(named(webhook.deployment), asOwner);
      await expect(call()).rejects.toMatchObject(NOT_FOUND);
    });

    it('lets no call through that begins after its answer, however many are under way', async () => {
      for (const change of ['disableDeployment', 'deleteDeployment'] as const) {
        const webhook = await house.create();
        let answered = false;
        let stopped = false;
        const early: string[] = [];
        const late: string[] = [];
        const senders = Array.from({ length: 8 }, async () => {
          while (!stopped) {
            const outcomes = answered ? late : early;
            const outcome = await house.edge.trigger(house.signed(webhook)).then(
              () => 'accepted',
              (error: { code: string }) => error.code,
            );
            outcomes.push(outcome);
            // Calls within one process never leave the queue of promises by themselves.
            await new Promise((resolve) => setImmediate(resolve));
          }
        });
        await until('calls are accepted', () => early.length > 50);
        await house.edge[change](named(webhook.deployment), asOwner);
        answered = true;
        await until('later calls are answered', () => late.length > 50);
        stopped = true;
        await Promise.all(senders);
        expect(new Set(early.filter((outcome) => outcome !== 'DEPLOYMENT_NOT_FOUND'))).toEqual(
          new Set(['accepted']),
        );
        expect(new Set(late)).toEqual(new Set(['DEPLOYMENT_NOT_FOUND']));
      }
    });

    it('is not undone by a look-up that began before it and ended after it', async () => {
      const webhook = await house.create();
      const call = () => house.edge.trigger(house.signed(webhook));
      const { promise, resolve } = Promise.withResolvers<void>();
      const hold = { waiting: 0, until: promise };
      house.neighbours.held.set('resolveAgent', hold);
      const early = call();
      await until('the look-up is under way', () => hold.waiting === 1);
      house.neighbours.held.delete('resolveAgent');
      house.neighbours.agents.get(AGENT)!.enabled = false;
      house.context.bus.publish('agents.changed', AGENT);
      const late = call();
      resolve();
      await expect(late).rejects.toMatchObject(CANNOT_START);
      await early.catch(() => {});
      await expect(call()).rejects.toMatchObject(CANNOT_START);
    });
  });

  describe('sessions that fail', () => {
    const away = () => refuse('DEPENDENCY_UNAVAILABLE', 'the database cannot be reached');

    it('are asked a second time, and the first answer that was lost begins no second session', async () => {
      const webhook = await house.create();
      for (const created of [false, true]) {
        house.neighbours.sessions.clear();
        house.neighbours.failures.push({ refusal: away(), created });
        const { sessionId } = await house.edge.trigger(house.signed(webhook));
        expect(begun().map(({ invocationId }) => invocationId.replace('inv_', 'ses_'))).toEqual([sessionId]);
      }
      expect(house.neighbours.calls.get('createSession')).toBe(4);
    });

    it('are given up after the fourth time', async () => {
      const webhook = await house.create();
      const tries = Array.from({ length: 4 }, () => ({ refusal: away(), created: false }));
      house.neighbours.failures.push(...tries);
      const call = house.edge.trigger(house.signed(webhook));
      await expect(call).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      expect(begun()).toEqual([]);
    });

    it('say what the caller is told when the agent has gone meanwhile', async () => {
      const webhook = await house.create();
      for (const code of [
        'AGENT_NOT_FOUND',
        'AGENT_NOT_RUNNABLE',
        'AGENT_VERSION_NOT_FOUND',
        'ENVIRONMENT_DISABLED',
      ] as const) {
        house.neighbours.failures.push({ refusal: refuse(code, 'gone'), created: false });
        await expect(house.edge.trigger(house.signed(webhook))).rejects.toMatchObject(CANNOT_START);
      }
    });

    it('never have their inner refusals shown to the sender', async () => {
      const webhook = await house.create();
      for (const code of ['FORBIDDEN', 'UNAUTHENTICATED', 'INVALID_TEXT'] as const) {
        house.neighbours.failures.push({ refusal: refuse(code, 'between us'), created: false });
        const call = house.edge.trigger(house.signed(webhook));
        await expect(call).rejects.toMatchObject({
          code: 'INTERNAL',
          message: expect.not.stringContaining('us'),
        });
      }
    });
  });

  it('accepts a body that becomes much longer as text', async () => {
    const webhook = await house.create();
    await house.edge.trigger(house.signed(webhook, Buffer.alloc(4 * 1024 * 1024)));
  });
});

describe('what is kept in memory', () => {
  const stack = new AsyncDisposableStack();
  const clock = createFakeClock();
  let house: House;

  beforeAll(async () => {
    house = stack.use(await openHouse('in process', { clock }));
  });
  afterAll(() => stack.disposeAsync());

  it('spares all look-ups for a second, and not longer', async () => {
    const webhook = await house.create();
    const call = () => house.edge.trigger(house.signed(webhook));
    await call();
    house.neighbours.calls.clear();
    // Nobody is told of this change.
    await house.sql(`update deployments set status = 'disabled'`);
    clock.advance(999);
    for (let round = 0; round < 50; round++) await call();
    expect(Object.fromEntries(house.neighbours.calls)).toEqual({ createSession: 50 });
    clock.advance(1);
    await expect(call()).rejects.toMatchObject(NOT_FOUND);
    await house.sql(`update deployments set status = 'enabled'`);
    clock.advance(1_000);
    await Promise.all(Array.from({ length: 20 }, call));
    expect(Object.fromEntries(house.neighbours.calls)).toEqual({
      createSession: 70,
      resolveAgent: 1,
      getUser: 1,
    });
  });

  it('is not the failure of a look-up', async () => {
    const webhook = await house.create();
    await house.sql('alter table deployments rename column sealed_secret to elsewhere');
    await expect(house.edge.trigger(house.signed(webhook))).rejects.toMatchObject({ code: 'INTERNAL' });
    await house.sql('alter table deployments rename column elsewhere to sealed_secret');
    await house.edge.trigger(house.signed(webhook));
  });

  it('is of use again after somebody has tried ids at random', async () => {
    const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    const idOf = (n: number) =>
      `dep_01M7XYC91CC5TE06JQWDW${[3, 2, 1, 0].map((place) => alphabet[(n >> (5 * place)) & 31]).join('')}0`;
    const webhook = await house.create();
    const request = house.signed(webhook);
    for (let batch = 0; batch < 10; batch++) {
      const calls = Array.from({ length: 500 }, (_, n) =>
        house.edge.trigger({ ...request, deploymentId: idOf(batch * 500 + n) }),
      );
      const outcomes = await Promise.allSettled(calls);
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: NOT_FOUND });
    }
    await house.edge.trigger(request);
  });
});

describe('a sealing key that is gone', () => {
  it('fails the call without a secret, and the webhook can still be deleted', async () => {
    await using before = await openHouse('in process');
    const webhook = await before.create();
    const { databaseUrl } = before.context;
    const sealingKey = 'another sealing key of more than 32 characters';
    await using after = await openHouse('in process', { databaseUrl, sealingKey });
    await expect(after.edge.trigger(after.signed(webhook))).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.not.stringContaining('key'),
    });
    const log = after.lines.join('\n');
    expect(log).toMatch(/a sealed text needs the key [0-9a-f]{8}/);
    expect(log).not.toContain(webhook.secret);
    expect(log).not.toContain(sealingKey);
    await after.edge.disableDeployment(named(webhook.deployment), asOwner);
    await expect(after.edge.trigger(after.signed(webhook))).rejects.toMatchObject(NOT_FOUND);
    await after.edge.deleteDeployment(named(webhook.deployment), asOwner);
  });
});
