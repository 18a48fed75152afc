import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Runner } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { createdEnvironment, environmentChange, environmentRequest, specWith } from './environments.ts';
import { type AgentsSystem, administrator, openAgentsSystem } from './system.ts';

const SIMULATED = { name: 'simulated', limits: ['memory_mib', 'disk_mib', 'workspace_mib'] };
const BUBBLEWRAP = {
  name: 'bubblewrap',
  limits: ['cpu_millis', 'memory_mib', 'pids', 'disk_mib', 'workspace_mib'],
};

function runner(id: string, ...providers: Runner['providers']): Runner {
  const description = providers.map(({ name }) => name).join(' before ');
  return {
    runnerId: `rnr_${id}`,
    providers,
    backends: [{ role: 'sandbox', description }],
    keyProviders: [],
    optionalProviders: [],
  };
}

let clock: FakeClock;
let agents: AgentsSystem;

beforeEach(async () => {
  clock = createFakeClock();
  agents = await openAgentsSystem('in process', { clock });
});

afterEach(() => agents[Symbol.asyncDispose]());

const report = (reporting: Runner, stopped = false) =>
  agents.as('runner').reportRunner({ runner: reporting, stopped });

/** Returns the details of the refusal; empty when the environment is created. */
function problemsOf(spec: Parameters<typeof specWith>[0]): Promise<{ pointer: string; message: string }[]> {
  const creation = agents.edge.createEnvironment(environmentRequest({ spec: specWith(spec) }), administrator);
  return creation.then(
    () => [],
    (error: { code: string; details: { pointer: string; message: string }[] }) => {
      expect(error.code).toBe('INVALID_REQUEST');
      return error.details;
    },
  );
}

const NETWORK = { network: { mode: 'limited', allowedHosts: ['example.com'] } };
const AUTO = { sandbox: { provider: 'auto' } };

describe('ReportRunner', () => {
  it('makes CreateEnvironment refuse a network that the provider in force does not have', async () => {
    expect(await problemsOf({ ...AUTO, ...NETWORK })).toEqual([]);
    await report(runner('1', SIMULATED));
    expect(await problemsOf({ ...AUTO, ...NETWORK })).toEqual([
      {
        pointer: '/network/mode',
        message: 'is not supported: the provider simulated supports only the networks none',
      },
    ]);
    expect(await problemsOf(AUTO)).toEqual([]);
  });

  it('makes CreateEnvironment refuse a limit that the provider does not enforce on that machine', async () => {
    const limits = BUBBLEWRAP.limits.filter((name) => name !== 'cpu_millis');
    await report(runner('1', { name: 'bubblewrap', limits }, SIMULATED));
    expect(await problemsOf({ sandbox: { provider: 'auto', cpuMillis: 500 } })).toEqual([
      {
        pointer: '/sandbox/cpu_millis',
        message:
          'is not supported: the provider bubblewrap supports only the limits memory_mib, pids, disk_mib, workspace_mib',
      },
    ]);
    expect(await problemsOf({ sandbox: { provider: 'auto', memoryMib: 64, pids: 50 } })).toEqual([]);
  });

  it('makes CreateEnvironment refuse a named provider that one of the runners does not have', async () => {
    await report(runner('1', BUBBLEWRAP, SIMULATED));
    expect(await problemsOf({ sandbox: { provider: 'bubblewrap' } })).toEqual([]);
    await report(runner('2', SIMULATED));
    expect(await problemsOf({ sandbox: { provider: 'bubblewrap' } })).toEqual([
      {
        pointer: '/sandbox/provider',
        message: 'is not available on every runner: bubblewrap before simulated; simulated',
      },
    ]);
    expect(await problemsOf({ sandbox: { provider: 'simulated' } })).toEqual([]);
  });

  it('makes UpdateEnvironment refuse a changed network or sandbox, but no other change', async () => {
    const { environmentId } = await createdEnvironment(agents, { spec: specWith({ ...AUTO, ...NETWORK }) });
    await report(runner('1', SIMULATED));
    const update = (members: object) =>
      agents.edge.updateEnvironment(environmentChange(environmentId, members), administrator);
    await expect(update({ sandbox: { ...specWith(AUTO).sandbox, memoryMib: 64 } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: '/network/mode' }],
    });
    expect((await update({ enabled: false })).environment).toMatchObject({ enabled: false, version: 2 });
  });

  it('counts for 20 seconds, or until the runner stops', async () => {
    await report(runner('1', SIMULATED));
    await report(runner('2', BUBBLEWRAP));
    clock.advance(19_000);
    await report(runner('2', BUBBLEWRAP));
    expect((await agents.edge.listRunners({})).runners.map(({ runnerId }) => runnerId)).toEqual([
      'rnr_1',
      'rnr_2',
    ]);
    clock.advance(1_001);
    expect((await agents.edge.listRunners({})).runners).toEqual([runner('2', BUBBLEWRAP)]);
    await report(runner('2', BUBBLEWRAP), true);
    expect((await agents.edge.listRunners({})).runners).toEqual([]);
    expect(await problemsOf({ ...AUTO, ...NETWORK })).toEqual([]);
  });
});
