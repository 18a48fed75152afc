import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { createLog } from '../../../lib/log.ts';
import type { LimitName } from '../../../lib/sandboxes.ts';
import { startProviderReporter } from '../../../services/runner/sandbox-pool/provider-reporter.ts';
import { createFakeClock } from '../../support/clock.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import { openTestRunner, type RunnerSettings } from './runner-fixture.ts';
import { openShellRunner } from './shell-runner.ts';
import { openSimulatedProviders, type SimulatedProviders } from './simulated-providers.ts';

const SESSION = 'ses_00000000000000000000000001';

/** Simulated providers that cannot enforce these limits on this machine. */
const without =
  (simulated: SimulatedProviders, ...unenforcedLimits: LimitName[]): RunnerSettings['sandboxes'] =>
  (clock) => ({
    available: simulated.providers(clock).available.map((provider) => ({ ...provider, unenforcedLimits })),
    unavailable: [{ name: 'bubblewrap', reason: 'this machine lacks bwrap' }],
    copies: 'measured',
  });

describe('ReportRunner', () => {
  it('names the providers of the runner with the limits that they enforce when the runner starts', async () => {
    using simulated = openSimulatedProviders();
    await using runner = await openTestRunner({ sandboxes: without(simulated, 'memory_mib') });
    expect(runner.agents.runnerReports).toEqual([
      {
        stopped: false,
        runner: {
          runnerId: expect.stringMatching(/^rnr_/),
          providers: [{ name: 'simulated', limits: ['disk_mib', 'workspace_mib'] }],
          backends: [
            {
              role: 'sandbox',
              description:
                'simulated, a shell that starts no programs (bubblewrap: this machine lacks bwrap)',
            },
            { role: 'copy limits', description: 'measured' },
            { role: 'copy space', description: '' },
          ],
          keyProviders: [],
          optionalProviders: ['bedrock', 'vertex', 'azure', 'gemini'],
        },
      },
    ]);
  });

  it('is repeated every 5 seconds, and sent a last time when the runner has stopped', async () => {
    await using runner = await openTestRunner();
    const { runnerReports } = runner.agents;
    runner.clock.advance(5_000);
    await until('the report is repeated', () => runnerReports.length === 2);
    await runner.runner.drain?.();
    expect(runnerReports.map(({ stopped }) => stopped)).toEqual([false, false, true]);
  });
});

describe('the start of a runner', () => {
  /** Starts a reporter whose first reports fail. Returns the number of reports and the time when it has started. */
  async function start(failures: number, code: 'DEPENDENCY_UNAVAILABLE' | 'FORBIDDEN') {
    const clock = createFakeClock();
    const startedAt = clock.now().getTime();
    let reports = 0;
    let isStarted = false;
    const starting = startProviderReporter({
      agents: {
        async reportRunner() {
          reports++;
          if (reports <= failures) throw refuse(code, 'the service does not accept the report');
          return {};
        },
      },
      clock,
      log: createLog({ level: 'silent' }),
      runnerId: 'rnr_1',
      providers: { available: [], unavailable: [], copies: '' },
      backends: [],
      keyProviders: [],
      optionalProviders: [],
    });
    void starting.then(() => {
      isStarted = true;
    });
    await advanceUntil(
      'the reporter has started',
      () => clock.advance(10),
      () => isStarted,
    );
    await (await starting).stopWithoutReport();
    return { reports, ms: clock.now().getTime() - startedAt };
  }

  it('waits until the agents service can be reached', async () => {
    const { reports, ms } = await start(3, 'DEPENDENCY_UNAVAILABLE');
    expect(reports).toBe(4);
    expect(ms).toBeLessThan(5_000);
  });

  it('waits at most 5 seconds for the agents service', async () => {
    const { ms } = await start(Number.POSITIVE_INFINITY, 'DEPENDENCY_UNAVAILABLE');
    expect(ms).toBeGreaterThanOrEqual(5_000);
    expect(ms).toBeLessThan(6_000);
  });

  it('does not wait after a refusal', async () => {
    const { reports } = await start(Number.POSITIVE_INFINITY, 'FORBIDDEN');
    expect(reports).toBe(1);
  });
});

describe('bash', () => {
  it('fails with the name of the provider when it does not enforce a limit of the environment any more', async () => {
    using simulated = openSimulatedProviders();
    await using shell = await openShellRunner({ sandboxes: without(simulated, 'memory_mib') });
    const sandbox = { provider: 'auto', image: '', memoryMib: 64, commandTimeoutSeconds: 1 };
    shell.agents.changeEnvironment({ sandbox });
    expect(await shell.run(SESSION, 'true')).toMatchObject([
      {
        output:
          'The environment has a requirement that the sandbox provider simulated of this runner does not meet: it supports only the limits disk_mib, workspace_mib.',
        is_error: true,
      },
    ]);
  });
});
