import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { TriggerRequest, TriggerResponse } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { CreateSessionRequest } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import {
  AGENT,
  type DeploymentsSystem,
  OWNER,
  openDeploymentsSystem,
  referenceTo,
  sign,
  UNKNOWN_DEPLOYMENT,
} from './system.ts';

const asOwner = { caller: OWNER };
const NOT_FOUND = { code: 'DEPLOYMENT_NOT_FOUND', message: 'Unknown deployment.' };
const UNAUTHORIZED = { code: 'DEPLOYMENT_UNAUTHORIZED', message: 'invalid webhook signature' };
const CANNOT_START = { code: 'DEPLOYMENT_CANNOT_START' };

describe.each(TRANSPORTS)('Trigger RPC, %s', (transport) => {
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => {
    system.reset();
    system.fakes.sessions.clear();
    system.fakes.failures.length = 0;
    system.fakes.pauses.clear();
    system.fakes.calls.clear();
  });

  function createdSessions(): CreateSessionRequest[] {
    return [...system.fakes.sessions.values()];
  }

  describe('with a valid signature', () => {
    it('starts a session of the creator with the version of the agent', async () => {
      const webhook = await system.create();
      const answer = await system.edge.trigger(system.signed(webhook, '{"a": 1}'));
      expect(createdSessions()).toEqual([
        {
          invocationId: expect.stringMatching(/^inv_[0-9A-HJKMNP-TV-Z]{26}$/),
          deploymentId: webhook.deployment.deploymentId,
          agentId: AGENT,
          agentVersion: 7,
          ownerId: OWNER.userId,
          text: '{"a": 1}',
          bodyBytes: 8,
          requestId: '',
          sourceAddress: '203.0.113.7',
        },
      ]);
      expect(answer).toEqual({
        deploymentId: webhook.deployment.deploymentId,
        sessionId: createdSessions()[0]!.invocationId.replace('inv_', 'ses_'),
      });
    });

    it('starts a new session for every repetition of the same request', async () => {
      const webhook = await system.create();
      const request = system.signed(webhook);
      const answers = await Promise.all(Array.from({ length: 20 }, () => system.edge.trigger(request)));
      expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(20);
      expect(createdSessions()).toHaveLength(20);
    });

    it('is accepted when another request, with which it shares a lookup, is cancelled', async () => {
      const webhook = await system.create();
      const request = system.signed(webhook);
      const leaver = new AbortController();
      // The lookup starts in the next turn of the event loop, after both callbacks.
      const answers = new Promise<PromiseSettledResult<TriggerResponse>[]>((resolve) => {
        setImmediate(() => {
          const calls = [
            system.edge.trigger(request, { signal: leaver.signal }),
            system.edge.trigger(request),
          ];
          resolve(Promise.allSettled(calls));
        });
      });
      setImmediate(() => leaver.abort());
      expect((await answers)[1]).toMatchObject({ status: 'fulfilled' });
    });

    it('accepts a timestamp at both ends of the time window', async () => {
      await using timed = await openDeploymentsSystem(transport, { clock: createFakeClock() });
      const webhook = await timed.create();
      const now = Math.floor(timed.context.clock.now().getTime() / 1000);
      const body = Buffer.from('{}');
      for (const timestamp of [now - 298, now + 298].map(String)) {
        const signatures = [sign(webhook.secret, timestamp, body)];
        await timed.edge.trigger(timed.signed(webhook, body, { timestamps: [timestamp], signatures }));
      }
      expect(timed.fakes.sessions.size).toBe(2);
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
    ])('passes on a body that is %s', async (_, body, text) => {
      const plain = await system.create();
      await system.edge.trigger(system.signed(plain, body));
      const prefixed = await system.create('Look:\n ');
      await system.edge.trigger(system.signed(prefixed, body));
      expect(createdSessions().map((session) => session.text)).toEqual([text, `Look:\n \n\n${text}`]);
      expect(createdSessions().map((session) => session.bodyBytes)).toEqual([body.length, body.length]);
    });

    it('passes on a body of several megabytes', async () => {
      const body = Buffer.from('ü'.repeat(2 * 1024 * 1024));
      await system.edge.trigger(system.signed(await system.create(), body));
      expect(createdSessions()[0]?.text).toBe(body.toString());
    });
  });

  describe('the order of the checks', () => {
    const everythingWrong = { oversize: true, timestamps: ['x'], signatures: [] };

    it('1: returns the same DEPLOYMENT_NOT_FOUND for unknown, deleted and disabled deployments', async () => {
      const deleted = await system.create();
      await system.edge.deleteDeployment(referenceTo(deleted.deployment), asOwner);
      const disabled = await system.create();
      await system.edge.disableDeployment(referenceTo(disabled.deployment), asOwner);
      for (const changes of [{}, everythingWrong]) {
        const attempts = [
          system.edge.trigger(system.signed(deleted, '{}', changes)),
          system.edge.trigger(system.signed(disabled, '{}', changes)),
          ...['', 'x', UNKNOWN_DEPLOYMENT, `${UNKNOWN_DEPLOYMENT}\0`, '../x'].map((deploymentId) =>
            system.edge.trigger(system.signed(disabled, '{}', { ...changes, deploymentId })),
          ),
        ];
        for (const outcome of await Promise.allSettled(attempts)) {
          expect(outcome).toMatchObject({ reason: NOT_FOUND });
        }
      }
    });

    it('2: returns PAYLOAD_TOO_LARGE before it checks the signature', async () => {
      const webhook = await system.create();
      system.fakes.agents.delete(AGENT);
      const limit = 4 * 1024 * 1024;
      const attempts = [
        system.edge.trigger(system.signed(webhook, '', everythingWrong)),
        system.edge.trigger(system.signed(webhook, '', { oversize: true })),
        system.edge.trigger(system.signed(webhook, Buffer.alloc(limit + 1, 'a'), { signatures: [] })),
        system.edge.trigger(system.signed(webhook, Buffer.alloc(limit + 1, 'a'))),
      ];
      for (const outcome of await Promise.allSettled(attempts)) {
        expect(outcome).toMatchObject({ reason: { code: 'PAYLOAD_TOO_LARGE' } });
      }
      system.reset();
      await system.edge.trigger(system.signed(webhook, Buffer.alloc(limit, 'a')));
    });

    it('3: returns the same refusal for every fault of timestamp and signature', async () => {
      const webhook = await system.create();
      const other = await system.create();
      system.fakes.agents.delete(AGENT);
      const { timestamps, signatures } = system.signed(webhook);
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
        await expect(system.edge.trigger(system.signed(webhook, '{}', changes))).rejects.toMatchObject(
          UNAUTHORIZED,
        );
      }
      expect(createdSessions()).toEqual([]);
      expect(system.fakes.calls.get('resolveAgent')).toBeUndefined();
    });

    it('4: returns DEPLOYMENT_CANNOT_START when the agent, its environment or the owner is deleted or disabled', async () => {
      const webhook = await system.create();
      const call = () => system.edge.trigger(system.signed(webhook));
      const agent = system.fakes.agents.get(AGENT)!;
      const { bus } = system.context;
      const attempts: [change: () => void, hint: () => void][] = [
        [() => Object.assign(agent, { enabled: false }), () => bus.publish('agents.changed', AGENT)],
        [
          () => Object.assign(agent, { environmentDisabled: true }),
          () => bus.publish('environments.changed', 'env_00000000000000000000000000'),
        ],
        [() => system.fakes.agents.delete(AGENT), () => bus.publish('agents.changed', AGENT)],
        [
          () => system.fakes.users.set(OWNER.userId, { enabled: false }),
          () => bus.publish('users.changed', OWNER.userId),
        ],
        [() => system.fakes.users.delete(OWNER.userId), () => bus.publish('users.changed', OWNER.userId)],
      ];
      for (const [change, hint] of attempts) {
        system.reset();
        Object.assign(agent, { enabled: true, environmentDisabled: false });
        system.fakes.agents.set(AGENT, agent);
        await call();
        change();
        hint();
        await expect(call()).rejects.toMatchObject(CANNOT_START);
      }
      expect(createdSessions()).toHaveLength(attempts.length);
    });
  });

  describe('after a change of the deployment or its agent', () => {
    it('applies disable, enable and delete before they return', async () => {
      const webhook = await system.create();
      const call = () => system.edge.trigger(system.signed(webhook));
      for (let round = 0; round < 10; round++) {
        await call();
        await system.edge.disableDeployment(referenceTo(webhook.deployment), asOwner);
        await expect(call()).rejects.toMatchObject(NOT_FOUND);
        await system.edge.enableDeployment(referenceTo(webhook.deployment), asOwner);
      }
      await call();
      await system.edge.deleteDeployment(referenceTo(webhook.deployment), asOwner);
      await expect(call()).rejects.toMatchObject(NOT_FOUND);
    });

    it('refuses every request that begins after disable or delete has returned', async () => {
      for (const change of ['disableDeployment', 'deleteDeployment'] as const) {
        const webhook = await system.create();
        let hasReturned = false;
        let stopped = false;
        const early: string[] = [];
        const late: string[] = [];
        const senders = Array.from({ length: 8 }, async () => {
          while (!stopped) {
            const outcomes = hasReturned ? late : early;
            const outcome = await system.edge.trigger(system.signed(webhook)).then(
              () => 'accepted',
              (error: { code: string }) => error.code,
            );
            outcomes.push(outcome);
            // Calls within one process resolve as microtasks. Other tasks need a turn of the event loop.
            await new Promise((resolve) => setImmediate(resolve));
          }
        });
        await until('requests are accepted', () => early.length > 50);
        await system.edge[change](referenceTo(webhook.deployment), asOwner);
        hasReturned = true;
        await until('later requests are answered', () => late.length > 50);
        stopped = true;
        await Promise.all(senders);
        expect(new Set(early.filter((outcome) => outcome !== 'DEPLOYMENT_NOT_FOUND'))).toEqual(
          new Set(['accepted']),
        );
        expect(new Set(late)).toEqual(new Set(['DEPLOYMENT_NOT_FOUND']));
      }
    });

    it('ignores the result of a lookup that began before the change', async () => {
      const webhook = await system.create();
      const call = () => system.edge.trigger(system.signed(webhook));
      const { promise, resolve } = Promise.withResolvers<void>();
      const pause = { waiting: 0, until: promise };
      system.fakes.pauses.set('resolveAgent', pause);
      const early = call();
      await until('the lookup is open', () => pause.waiting === 1);
      system.fakes.pauses.delete('resolveAgent');
      system.fakes.agents.get(AGENT)!.enabled = false;
      system.context.bus.publish('agents.changed', AGENT);
      const late = call();
      resolve();
      await expect(late).rejects.toMatchObject(CANNOT_START);
      await early.catch(() => {});
      await expect(call()).rejects.toMatchObject(CANNOT_START);
    });
  });

  describe('when the sessions service fails', () => {
    const unavailable = () => refuse('DEPENDENCY_UNAVAILABLE', 'the database cannot be reached');

    it('repeats the request, and starts no second session when the first response was lost', async () => {
      const webhook = await system.create();
      for (const created of [false, true]) {
        system.fakes.sessions.clear();
        system.fakes.failures.push({ refusal: unavailable(), created });
        const { sessionId } = await system.edge.trigger(system.signed(webhook));
        expect(createdSessions().map(({ invocationId }) => invocationId.replace('inv_', 'ses_'))).toEqual([
          sessionId,
        ]);
      }
      expect(system.fakes.calls.get('createSession')).toBe(4);
    });

    it('returns DEPENDENCY_UNAVAILABLE after four attempts', async () => {
      const webhook = await system.create();
      const tries = Array.from({ length: 4 }, () => ({ refusal: unavailable(), created: false }));
      system.fakes.failures.push(...tries);
      const call = system.edge.trigger(system.signed(webhook));
      await expect(call).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      expect(createdSessions()).toEqual([]);
    });

    it('returns DEPLOYMENT_CANNOT_START when the agent cannot be used any more', async () => {
      const webhook = await system.create();
      for (const code of [
        'AGENT_NOT_FOUND',
        'AGENT_NOT_RUNNABLE',
        'AGENT_VERSION_NOT_FOUND',
        'ENVIRONMENT_DISABLED',
      ] as const) {
        system.fakes.failures.push({ refusal: refuse(code, 'gone'), created: false });
        await expect(system.edge.trigger(system.signed(webhook))).rejects.toMatchObject(CANNOT_START);
      }
    });

    it('returns INTERNAL for refusals that concern only the services', async () => {
      const webhook = await system.create();
      for (const code of ['FORBIDDEN', 'UNAUTHENTICATED', 'INVALID_TEXT'] as const) {
        system.fakes.failures.push({ refusal: refuse(code, 'internal detail'), created: false });
        const call = system.edge.trigger(system.signed(webhook));
        await expect(call).rejects.toMatchObject({
          code: 'INTERNAL',
          message: expect.not.stringContaining('detail'),
        });
      }
    });
  });

  it('accepts 4 MiB of NUL bytes, which take 24 MiB as JSON', async () => {
    const webhook = await system.create();
    await system.edge.trigger(system.signed(webhook, Buffer.alloc(4 * 1024 * 1024)));
  });
});

describe('Trigger RPC, caches', () => {
  const stack = new AsyncDisposableStack();
  const clock = createFakeClock();
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = stack.use(await openDeploymentsSystem('in process', { clock }));
  });
  afterAll(() => stack.disposeAsync());

  it('sends no lookups for one second', async () => {
    const webhook = await system.create();
    const call = () => system.edge.trigger(system.signed(webhook));
    await call();
    system.fakes.calls.clear();
    // No change hint is published for this statement.
    await system.sql(`update deployments set status = 'disabled'`);
    clock.advance(999);
    for (let round = 0; round < 50; round++) await call();
    expect(Object.fromEntries(system.fakes.calls)).toEqual({ createSession: 50 });
    clock.advance(1);
    await expect(call()).rejects.toMatchObject(NOT_FOUND);
    await system.sql(`update deployments set status = 'enabled'`);
    clock.advance(1_000);
    await Promise.all(Array.from({ length: 20 }, call));
    expect(Object.fromEntries(system.fakes.calls)).toEqual({
      createSession: 70,
      resolveAgent: 1,
      getUser: 1,
    });
  });

  it('do not keep a failed lookup', async () => {
    const webhook = await system.create();
    await system.sql('alter table deployments rename column sealed_secret to elsewhere');
    await expect(system.edge.trigger(system.signed(webhook))).rejects.toMatchObject({ code: 'INTERNAL' });
    await system.sql('alter table deployments rename column elsewhere to sealed_secret');
    await system.edge.trigger(system.signed(webhook));
  });

  it('still serve a known webhook after 5,000 requests with unknown ids', async () => {
    const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    const idOf = (n: number) =>
      `dep_01M7XYC91CC5TE06JQWDW${[3, 2, 1, 0].map((place) => alphabet[(n >> (5 * place)) & 31]).join('')}0`;
    const webhook = await system.create();
    const request = system.signed(webhook);
    for (let batch = 0; batch < 10; batch++) {
      const calls = Array.from({ length: 500 }, (_, n) =>
        system.edge.trigger({ ...request, deploymentId: idOf(batch * 500 + n) }),
      );
      const outcomes = await Promise.allSettled(calls);
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: NOT_FOUND });
    }
    await system.edge.trigger(request);
  });
});

const OLD_KEY = 'the old sealing key of more than 32 characters';

describe('Trigger RPC without the sealing key of a webhook', () => {
  it('returns INTERNAL, logs no secret, and allows to delete the webhook', async () => {
    // During a rotation, this process does not have the new key yet.
    await using after = await openDeploymentsSystem('in process', { sealingKey: OLD_KEY });
    const { databaseUrl } = after.context;
    const sealingKey = `another sealing key of more than 32 characters,${OLD_KEY}`;
    await using rotated = await openDeploymentsSystem('in process', { databaseUrl, sealingKey });
    const webhook = await rotated.create();
    await expect(after.edge.trigger(after.signed(webhook))).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.not.stringContaining('key'),
    });
    const log = after.lines.join('\n');
    expect(log).toMatch(/does not contain the key [0-9a-f]{8} of a sealed text/);
    expect(log).not.toContain(webhook.secret);
    expect(log).not.toContain(sealingKey);
    await after.edge.disableDeployment(referenceTo(webhook.deployment), asOwner);
    await expect(after.edge.trigger(after.signed(webhook))).rejects.toMatchObject(NOT_FOUND);
    await after.edge.deleteDeployment(referenceTo(webhook.deployment), asOwner);
  });
});
