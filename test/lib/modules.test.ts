import { describe, expect, it } from 'vitest';
import { DegradedError, type Module, ModuleManager, statusOf } from '../../lib/modules.ts';
import { createFakeClock } from '../support/clock.ts';

const clock = createFakeClock();

function managerOf(...modules: Omit<Module, 'stop'>[]): ModuleManager {
  const manager = new ModuleManager(clock, () => {});
  for (const module of modules) manager.add({ ...module, stop: async () => {} });
  return manager;
}

const fails = async () => {
  throw new Error('away');
};

describe('ModuleManager.readiness', () => {
  it.each([
    ['ready', 'passes', { name: 'part', check: async () => {} }],
    ['unready', 'is required and fails', { name: 'part', check: fails }],
    ['degraded', 'is optional and fails', { name: 'part', check: fails, isOptional: true }],
    [
      'degraded',
      'rejects with DegradedError',
      {
        name: 'part',
        check: async () => {
          throw new DegradedError('full');
        },
      },
    ],
  ] as const)('is %s when a check %s', async (status, _, module) => {
    const checks = await managerOf({ name: 'other', check: async () => {} }, module).readiness();
    expect(statusOf(checks)).toBe(status);
    const part = checks.find(({ name }) => name === 'part');
    expect(part?.problem === undefined).toBe(status === 'ready');
  });

  it('counts an optional check without an answer as degraded', async () => {
    const hangs = () => new Promise<void>(() => {});
    const checks = managerOf({ name: 'part', check: hangs, isOptional: true }).readiness();
    clock.advance(1_500);
    expect(await checks).toMatchObject([{ status: 'degraded', problem: 'no answer within 1500 ms' }]);
  });

  it('is unready from the begin of the stop', async () => {
    const manager = managerOf({ name: 'part', check: async () => {} });
    await manager.stop();
    expect(statusOf(await manager.readiness())).toBe('unready');
  });
});

describe('ModuleManager.checkOwn', () => {
  it('ignores clients of other processes and optional parts', async () => {
    await managerOf(
      { name: 'remote', check: fails, isRemote: true },
      { name: 'hints', check: fails, isOptional: true },
    ).checkOwn();
  });

  it('rejects with the name of a required part that fails', async () => {
    await expect(managerOf({ name: 'file storage', check: fails }).checkOwn()).rejects.toThrow(
      'file storage: away',
    );
  });
});
