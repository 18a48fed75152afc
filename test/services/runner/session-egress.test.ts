import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import { Secret } from '../../../lib/secret.ts';
import type { Environment } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { GetSessionCredentialsResponse } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { Lending, Need } from '../../../services/runner/credentials/lent-credentials.ts';
import { createSessionEgress } from '../../../services/runner/credentials/session-egress.ts';
import type { CallingTurn } from '../../../services/runner/tool-calls/tool-call.ts';
import { createFakeClock } from '../../support/clock.ts';

const READY = { state: 'ready', reason: '', credentialId: 'crd_1' };
const FOUND = {
  hosts: [
    { ...READY, host: 'api.attached.test', headers: ['authorization'] },
    { ...READY, host: 'blocked.test', headers: ['authorization'] },
  ],
  variables: [
    {
      ...READY,
      name: 'TOKEN',
      hosts: ['*.git.test', 'blocked.test'],
      placeholder: 'ph_1',
      rules: { inject: { basic: true } },
    },
    { ...READY, name: 'TAKEN', hosts: ['api.git.test'], placeholder: 'ph_2', rules: {} },
    {
      ...READY,
      name: 'OFF',
      hosts: ['api.git.test'],
      placeholder: '',
      state: 'disabled',
      reason: 'It is disabled.',
    },
  ],
} as unknown as GetSessionCredentialsResponse;

const LENT = {
  ...{ credentialId: 'crd_1', generation: 1, source: 'shared', usableUntil: 5 },
  headers: {},
};

function setUp({
  found = async () => FOUND,
  lending,
}: {
  found?: () => Promise<typeof FOUND>;
  lending?: () => Lending;
} = {}) {
  const asked: object[] = [];
  const needs: Need[] = [];
  const echoes: object[] = [];
  const refusals: object[] = [];
  const clock = createFakeClock();
  const egress = createSessionEgress({
    vaults: {
      getSessionCredentials: async (request: object) => {
        asked.push(request);
        return await found();
      },
      reportEcho: async (request: object) => {
        echoes.push(request);
        return {};
      },
    } as never,
    lent: {
      async lendFor(_, need) {
        needs.push(need);
        if (!lending) throw new Error('nothing is lent');
        return lending();
      },
      async refusedFor(_, need, { generation }, { httpStatus }) {
        refusals.push({ need, generation, httpStatus });
        if (!lending) throw new Error('the vaults service does not answer');
        return lending();
      },
    },
    clock,
    log: { warn() {} } as unknown as Log,
  });
  const lease = { sessionId: 'ses_1', turnId: 'trn_1', fence: 1 };
  const turn = { lease, trace: undefined } as unknown as CallingTurn;
  const environment = (mode: string, allowedHosts = ['*.attached.test', 'api.git.test', '*.hub.test']) =>
    ({ spec: { network: { mode, allowedHosts }, variables: { TAKEN: '1' } } }) as unknown as Environment;
  const of = (mode = 'limited') =>
    egress.credentialsOf({ turn, signal: new AbortController().signal }, environment(mode));
  return { of, asked, needs, echoes, refusals, clock };
}

describe('credentials of a turn’s commands', () => {
  it('are those of the session that the environment permits, and are asked for once', async () => {
    const { of, asked } = setUp();
    const credentials = await of();
    await of();
    expect(credentials).toMatchObject({
      sessionId: 'ses_1',
      hosts: [{ host: 'api.attached.test', headers: ['authorization'] }],
      variables: [
        { name: 'TOKEN', placeholder: 'ph_1', hosts: ['api.git.test'], rules: { basic: true, headers: [] } },
      ],
    });
    expect(credentials?.variables).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  it('do not exist without a limited network', async () => {
    const { of, asked } = setUp();
    expect([await of('none'), await of('unrestricted')]).toEqual([undefined, undefined]);
    expect(asked).toEqual([]);
  });

  it('are absent while the vaults service does not answer, and asked for again', async () => {
    const answers = [() => Promise.reject(new Error('down')), async () => FOUND];
    const { of, asked } = setUp({
      found: () => answers[asked.length - 1]?.() ?? Promise.reject(new Error('end')),
    });
    expect(await of()).toBeUndefined();
    expect((await of())?.variables).toHaveLength(1);
  });

  it('end the call when the lease is lost', async () => {
    const { of } = setUp({ found: () => Promise.reject(refuse('LEASE_LOST', 'The lease has ended.')) });
    await expect(of()).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  it('are lent for a host or a variable', async () => {
    const lent = { ...LENT, refreshable: false };
    const { of, needs, echoes } = setUp({
      lending: () => ({ kind: 'lent', lent: { ...lent, value: new Secret('v') } }),
    });
    const credentials = await of();
    expect(await credentials?.lend({ host: 'api.git.test', variable: 'TOKEN' })).toMatchObject({
      kind: 'lent',
      usableUntil: 5,
    });
    await credentials?.lend({ host: 'api.attached.test' });
    expect(needs).toEqual([
      { $case: 'variable', value: { name: 'TOKEN', host: 'api.git.test' } },
      { $case: 'host', value: 'api.attached.test' },
    ]);
    credentials?.reportEcho('crd_1', 'api.git.test');
    expect(echoes).toMatchObject([{ credentialId: 'crd_1', host: 'api.git.test' }]);
  });

  it('report a refused token once a minute and generation, and no other refused credential', async () => {
    const state = { ...LENT, refreshable: true };
    const { of, refusals, clock } = setUp({ lending: () => ({ kind: 'lent', lent: { ...state } }) });
    const credentials = await of();
    const refuse = async () => {
      const lent = await credentials?.lend({ host: 'api.attached.test' });
      if (lent?.kind === 'lent') lent.refused?.();
      return refusals.length;
    };
    expect([await refuse(), await refuse()]).toEqual([1, 1]);
    expect(refusals).toEqual([
      { need: { $case: 'host', value: 'api.attached.test' }, generation: 1, httpStatus: 401 },
    ]);
    clock.advance(60_000);
    expect(await refuse()).toBe(2);
    state.generation = 2;
    expect([await refuse(), await refuse()]).toEqual([3, 3]);
    state.refreshable = false;
    state.generation = 3;
    expect(await refuse()).toBe(3);
  });

  it.each<[string, () => Lending, object]>([
    ['disabled', () => missing('disabled'), { reason: 'is disabled', isTemporary: false }],
    ['sealed', () => missing('vault_sealed'), { isTemporary: true }],
    [
      'removed',
      () => {
        throw refuse('CREDENTIAL_NOT_FOUND', 'x');
      },
      { isTemporary: false },
    ],
    [
      'of an ended turn',
      () => {
        throw refuse('LEASE_LOST', 'x');
      },
      { reason: expect.stringContaining('only while a turn'), isTemporary: false },
    ],
    [
      'out of reach',
      () => {
        throw refuse('DEADLINE_EXCEEDED', 'x');
      },
      { isTemporary: true },
    ],
  ])('that are %s are missing with a reason', async (_, lending, expected) => {
    const { of } = setUp({ lending });
    expect(await (await of())?.lend({ host: 'api.attached.test' })).toMatchObject({
      kind: 'missing',
      ...expected,
    });
  });
});

const missing = (reason: string): Lending => ({
  kind: 'missing',
  missing: { reason, credentialId: 'crd_1', who: 'administrator', scopes: [] },
});
