import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { captureLog } from '../../support/captured-log.ts';
import { openProvider } from '../../support/providers/server.ts';
import { queuedTurn } from './fake-sessions.ts';
import type { FakeVaults } from './fake-vaults.ts';
import { PROTOCOLS } from './model-step-fixture.ts';
import { openTestRunner, outcomeOf, textOf, typesOf } from './runner-fixture.ts';

const KEY = 'agent-key-0123456789';
const NEW_KEY = 'agent-key-9876543210';
const [PROTOCOL] = PROTOCOLS;
const DOWN = refuse('DEPENDENCY_UNAVAILABLE', 'The vaults service is down.');

function refuseKey(vaults: FakeVaults): void {
  vaults.token = undefined;
  vaults.missing = { reason: 'refused', credentialId: 'crd_1', who: 'administrator', scopes: [] };
}

describe('model keys of agents', () => {
  /** A runner whose agent has a model key for the provider. */
  async function open(protocol = PROTOCOL!) {
    const stack = new AsyncDisposableStack();
    const server = stack.use(await openProvider(protocol));
    const { log, lines } = captureLog();
    const fixture = stack.use(await openTestRunner({ log, providers: protocol.settings(server.url) }));
    const provider = protocol.model.split('/')[0]!;
    fixture.vaults.modelKeyUsers = [{ agentId: 'agt_1', providers: [provider] }];
    fixture.vaults.token = KEY;
    let turns = 0;
    return {
      ...{ server, lines, provider, vaults: fixture.vaults, fixture },
      /** Runs a turn with one request. Returns its journal. */
      async turn(agentId = 'agt_1') {
        turns++;
        const turnId = `trn_${turns}`;
        fixture.queueTurns({ model: protocol.model }, { ...queuedTurn(turnId, 'Well?'), agentId });
        return fixture.waitForOutcome(turnId);
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  }

  it.each(PROTOCOLS)('replace the key of the operator for $model', async (protocol) => {
    await using test = await open(protocol);
    test.server.enqueue({ parts: [{ text: 'Yes.' }] }, { parts: [{ text: 'No.' }] });
    expect(textOf(await test.turn())).toBe('Yes.');
    expect(textOf(await test.turn('agt_2'))).toBe('No.');
    const sent = test.server.requests.map(({ headers }) => JSON.stringify(headers));
    expect(sent[0]).toContain(KEY);
    expect(sent[0]).not.toContain(protocol.key);
    expect(sent[1]).toContain(protocol.key);
    expect(test.vaults.lends.map(({ needs }) => needs)).toEqual([
      [{ target: { $case: 'modelProvider', value: test.provider } }],
    ]);
    expect(test.vaults.lists).toBe(1);
  });

  it.each([
    [401, 'authentication_error'],
    [403, 'permission_error'],
  ])('fail the turn when the provider answers %i, without another request', async (status, kind) => {
    await using test = await open();
    test.server.enqueue({ status, kind, message: `wrong key ${KEY}` });
    test.vaults.onRefusal = () => refuseKey(test.vaults);
    const journal = await test.turn();
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_key_refused' } },
    });
    expect(test.server.requests).toHaveLength(1);
    expect(test.vaults.refusals).toMatchObject([{ credentialId: 'crd_1', generation: 1, status }]);
    expect(typesOf(journal)).not.toContain('agent.message');
    expect(JSON.stringify([journal, test.lines])).not.toContain(KEY);
  });

  it('are tried once more when an administrator has replaced the refused key', async () => {
    await using test = await open();
    test.server.enqueue({ status: 401, kind: 'authentication_error', message: 'wrong key' });
    test.server.enqueue({ parts: [{ text: 'Yes.' }] });
    test.vaults.onRefusal = () => (test.vaults.token = NEW_KEY);
    const journal = await test.turn();
    expect(textOf(journal)).toBe('Yes.');
    const sent = test.server.requests.map(({ headers }) => JSON.stringify(headers));
    expect(sent.map((headers) => [headers.includes(KEY), headers.includes(NEW_KEY)])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(test.vaults.refusals).toMatchObject([{ generation: 1, status: 401 }]);
    expect(typesOf(journal).filter((type) => type === 'model.request_finished')).toHaveLength(2);
  });

  it('fail the turn when the provider refuses the replaced key too', async () => {
    await using test = await open();
    const refusal = { status: 401, kind: 'authentication_error', message: 'wrong key' };
    test.server.enqueue(refusal, refusal);
    test.vaults.onRefusal = () => (test.vaults.token = NEW_KEY);
    expect(outcomeOf(await test.turn())).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_key_refused' } },
    });
    expect(test.server.requests).toHaveLength(2);
    expect(test.vaults.refusals).toMatchObject([{ generation: 1 }, { generation: 2 }]);
  });

  it('fail the turn when the provider refuses the key with 403, also when it was replaced', async () => {
    await using test = await open();
    test.server.enqueue({ status: 403, kind: 'permission_error', message: 'no access' });
    test.vaults.onRefusal = () => (test.vaults.token = NEW_KEY);
    expect(outcomeOf(await test.turn())).toMatchObject({ value: { error: { code: 'model_key_refused' } } });
    expect(test.server.requests).toHaveLength(1);
  });

  it('fail the turn without a request when the key was refused before', async () => {
    await using test = await open();
    refuseKey(test.vaults);
    expect(outcomeOf(await test.turn())).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_key_refused' } },
    });
    expect(test.server.requests).toEqual([]);
  });

  it.each(['none', 'disabled'])('leave the key of the operator when the lending says %s', async (reason) => {
    await using test = await open();
    test.vaults.token = undefined;
    test.vaults.missing = { reason, credentialId: '', who: 'administrator', scopes: [] };
    test.server.enqueue({ parts: [{ text: 'Yes.' }] });
    expect(textOf(await test.turn())).toBe('Yes.');
  });

  it.each([
    [
      'the vault is sealed',
      'vault_sealed',
      {
        token: undefined,
        missing: { reason: 'vault_sealed', credentialId: 'crd_1', who: 'administrator', scopes: [] },
      },
    ],
    ['the key cannot be lent', 'unavailable', { failure: DOWN }],
    ['the agents with keys were never read', 'unavailable', { listFailure: DOWN }],
  ])(
    'reschedule the turn when %s, with an authorization for the end of its retries',
    async (_, reason, state) => {
      await using test = await open();
      Object.assign(test.vaults, state);
      const outcome = outcomeOf(await test.turn());
      expect(outcome).toMatchObject({
        $case: 'retry',
        value: {
          error: { code: 'dependency_unavailable' },
          whenExhausted: { asks: [{ kind: 'authorization', toolUseId: '' }] },
        },
      });
      const [ask] = outcome?.$case === 'retry' ? (outcome.value.whenExhausted?.asks ?? []) : [];
      expect(JSON.parse(ask?.detailsJson ?? '')).toEqual({
        ...{ model_provider: test.provider, name: test.provider, reason, who: 'administrator' },
      });
      expect(test.server.requests).toEqual([]);
    },
  );

  it('are read again after a change or 10 seconds, and stay known while they cannot be read', async () => {
    await using test = await open();
    const { vaults, fixture } = test;
    const run = async () => {
      test.server.enqueue({ parts: [{ text: 'Yes.' }] });
      expect(textOf(await test.turn('agt_2'))).toBe('Yes.');
      return vaults.lists;
    };
    expect([await run(), await run()]).toEqual([1, 1]);
    vaults.listFailure = DOWN;
    fixture.clock.advance(10_000);
    expect(await run()).toBe(2);
    vaults.listFailure = undefined;
    fixture.clock.advance(1_000);
    expect(await run()).toBe(3);
    fixture.context.bus.publish('credentials.changed', 'crd_1');
    expect(await run()).toBe(3);
    fixture.clock.advance(1_000);
    expect([await run(), await run()]).toEqual([4, 4]);
    expect(vaults.lends).toEqual([]);
  });
});
