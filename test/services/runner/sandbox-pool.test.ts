import { existsSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { SandboxProvider } from '../../../services/runner/sandbox/sandbox.ts';
import { until } from '../../support/wait.ts';
import { queuedTurn } from './fake-sessions.ts';
import { dataOf, outcomeOf, script } from './runner-fixture.ts';
import { openShellRunner, resultsOf, type ShellRunner } from './shell-runner.ts';
import { openSimulatedProviders } from './simulated-providers.ts';

const [ONE, TWO] = ['ses_00000000000000000000000001', 'ses_00000000000000000000000002'];

/** Returns the ids of all sandboxes that were taken, in the order of the first time. */
const takenIds = (shell: ShellRunner) => [
  ...new Set(shell.sessions.takeRequests.map(({ sandboxId }) => sandboxId)),
];
const statusOf = (shell: ShellRunner, sandboxId = '') => shell.sessions.sandboxes[sandboxId];

describe('SandboxPool: the sandbox of a session', () => {
  it('is created for the first command, taken under the lease and reported as ready', async () => {
    await using shell = await openShellRunner();
    expect(shell.sandboxDirectories()).toEqual([]);
    await shell.run(ONE, 'true', 'true');
    expect(shell.sessions.takeRequests).toHaveLength(1);
    expect(shell.sessions.takeRequests[0]).toMatchObject({
      provider: 'simulated',
      isolation: 'simulation',
      tenancy: 'session',
      tenantId: ONE,
      environmentId: 'env_00000000000000000000000001',
      environmentVersion: 1,
      lease: { sessionId: ONE, fence: 1 },
    });
    expect(JSON.parse(shell.sessions.takeRequests[0]?.limitsJson ?? '')).toHaveProperty('memoryMib');
    const [sandboxId] = takenIds(shell);
    await until('the sandbox is reported', () => statusOf(shell, sandboxId) === 'ready');
    expect(shell.sandboxDirectories()).toHaveLength(1);
  });

  it('is reused in the next turn with its temporary files, and taken under the new lease', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'echo one > /tmp/outside');
    const [result] = await shell.run(ONE, 'cat /tmp/outside');
    expect(result?.output).toBe('one\n');
    expect(shell.sessions.takeRequests).toHaveLength(2);
    expect(takenIds(shell)).toHaveLength(1);
    expect(shell.files.checkouts.whole).toBe(1);
  });

  it('is not shared with another session', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'touch mine');
    const [result] = await shell.run(TWO, 'ls');
    expect(result?.output).toBe('');
    expect(takenIds(shell)).toHaveLength(2);
  });

  it('is reported every 5 seconds', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'true');
    await until('the sandbox is reported', () => shell.sessions.sandboxReports.length > 0);
    const before = shell.sessions.sandboxReports.length;
    await shell.advanceUntil(
      'the sandbox is reported again',
      () => shell.sessions.sandboxReports.length >= before + 3,
      500,
    );
    expect(shell.sessions.sandboxReports.at(-1)?.sandboxes).toMatchObject([{ status: 'ready' }]);
  });

  it('runs parallel calls of one step one after the other', async () => {
    await using shell = await openShellRunner();
    const append = 'n=$(cat f 2>/dev/null || echo 0); sleep 0.1; echo $((n + 1)) > f';
    const step = { tool: 'bash', input: { command: append } };
    shell.queueTurns(script(step, step, step), { ...queuedTurn('trn_1', ''), sessionId: ONE });
    const journal = await shell.waitForOutcome('trn_1');
    expect(resultsOf(journal).map((one) => one.workspace_version)).toEqual([1, 2, 3]);
    expect(shell.files.tree(ONE)).toEqual({ f: '3\n' });
    expect(shell.sessions.takeRequests.length).toBeGreaterThan(0);
    expect(takenIds(shell)).toHaveLength(1);
  });

  it('is not reported before it is taken', async () => {
    await using shell = await openShellRunner();
    await shell.run(TWO, 'true');
    await until(
      'the sandbox of the other session is reported',
      () => shell.sessions.sandboxReports.length > 0,
    );
    const before = shell.sessions.sandboxReports.length;
    shell.sessions.before.take = () =>
      shell.advanceUntil('another report is sent', () => shell.sessions.sandboxReports.length > before, 500);
    expect((await shell.run(ONE, 'echo done'))[0]?.output).toBe('done\n');
    const [other = '', own = ''] = takenIds(shell);
    await until('the sandbox is reported', () => statusOf(shell, own) === 'ready');
    expect(shell.sessions.sandboxReports[before]?.sandboxes).toMatchObject([{ sandboxId: other }]);
  });

  it('is replaced when the sessions service no longer grants it', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'echo kept > f');
    const [first = ''] = takenIds(shell);
    shell.sessions.ending.add(first);
    const [result] = await shell.run(ONE, 'cat f');
    expect(result?.output).toBe('kept\n');
    expect(takenIds(shell)).toHaveLength(2);
    await until('the first sandbox is released', () => statusOf(shell, first) === 'released');
    expect(shell.sandboxDirectories()).toHaveLength(1);
  });
});

describe('SandboxPool: an unused sandbox', () => {
  it('is suspended at its idle timeout, and resumed for the next command', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'echo one > /tmp/outside');
    const [sandboxId] = takenIds(shell);
    await shell.advanceUntil(
      'the sandbox is suspended',
      () => statusOf(shell, sandboxId) === 'suspended',
      30_000,
    );
    const [result] = await shell.run(ONE, 'cat /tmp/outside');
    expect(result?.output).toBe('one\n');
    await until('the sandbox is ready', () => statusOf(shell, sandboxId) === 'ready');
    expect(takenIds(shell)).toHaveLength(1);
  });

  it('is released 24 hours after it was suspended', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'echo kept > f');
    const [sandboxId] = takenIds(shell);
    await shell.advanceUntil(
      'the sandbox is suspended',
      () => statusOf(shell, sandboxId) === 'suspended',
      30_000,
    );
    const hour = 3_600_000;
    await shell.advanceUntil(
      'the sandbox is released',
      () => statusOf(shell, sandboxId) === 'released',
      hour,
    );
    expect(shell.sandboxDirectories()).toEqual([]);
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
  });

  it('is released at its idle timeout when the environment says so, and replaced for the next command', async () => {
    await using shell = await openShellRunner();
    shell.agents.changeEnvironment({ idle: { timeoutSeconds: 60, action: 'release' } });
    await shell.run(ONE, 'echo kept > f');
    const [sandboxId] = takenIds(shell);
    await shell.advanceUntil(
      'the sandbox is released',
      () => statusOf(shell, sandboxId) === 'released',
      5_000,
    );
    expect(shell.sandboxDirectories()).toEqual([]);
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
    expect(takenIds(shell)).toHaveLength(2);
  });

  it('is released when the runner is at its limit and another session needs a sandbox', async () => {
    await using shell = await openShellRunner({ maxSandboxes: 1 });
    await shell.run(ONE, 'echo kept > f');
    await shell.run(TWO, 'true');
    const [first, second] = takenIds(shell);
    await until(
      'both are reported',
      () => statusOf(shell, first) === 'released' && statusOf(shell, second) === 'ready',
    );
    expect(shell.sandboxDirectories()).toHaveLength(1);
    await shell.startEndless(TWO);
    expect((await shell.run(ONE, 'cat f'))[0]).toMatchObject({
      output: 'All 1 sandboxes of this runner are in use.',
      is_error: true,
    });
  });
});

describe('SandboxPool: SERVICE_RUNNER_SANDBOXES', () => {
  const SESSIONS = Array.from({ length: 4 }, (_, i) => `ses_${String(i).padStart(26, '0')}`);

  /** Opens a runner whose provider reports how many sandboxes exist at the same time, and fails `failures` times. */
  async function openCounting(maxSandboxes: number, failures = 0) {
    const simulated = openSimulatedProviders();
    const count = { current: 0, maximum: 0 };
    const counting = (provider: SandboxProvider): SandboxProvider => ({
      name: provider.name,
      sweep: () => provider.sweep(),
      async create(spec) {
        count.maximum = Math.max(count.maximum, ++count.current);
        // Other commands can ask for a sandbox while this one is created.
        await pause(20);
        if (failures-- > 0) {
          count.current--;
          throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox could not be created.');
        }
        const sandbox = await provider.create(spec);
        const destroy = async () => {
          await sandbox.destroy();
          count.current--;
        };
        return new Proxy(sandbox, {
          get(target, name) {
            if (name === 'destroy') return destroy;
            const value = Reflect.get(target, name, target);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        });
      },
    });
    const shell = await openShellRunner({
      maxSandboxes,
      sandboxes(clock) {
        const { available, ...others } = simulated.providers(clock);
        return { available: available.map(counting), ...others };
      },
    });
    return {
      shell,
      count,
      async [Symbol.asyncDispose]() {
        await shell[Symbol.asyncDispose]();
        simulated[Symbol.dispose]();
      },
    };
  }

  it('is not exceeded by the first commands of several sessions at the same time', async () => {
    await using limited = await openCounting(2);
    const results = await Promise.all(SESSIONS.map((session) => limited.shell.run(session, 'echo done')));
    expect(limited.count.maximum).toBe(2);
    const outputs = results.map(([result]) => result?.output);
    expect(outputs.filter((output) => output === 'done\n')).toHaveLength(2);
    expect(outputs.filter((output) => output === 'All 2 sandboxes of this runner are in use.')).toHaveLength(
      2,
    );
  });

  it('is not exceeded when several sessions replace the same unused sandbox', async () => {
    await using limited = await openCounting(1);
    await limited.shell.run(ONE, 'true');
    await Promise.all(SESSIONS.map((session) => limited.shell.run(session, 'true')));
    expect(limited.count.maximum).toBe(1);
  });

  it('counts no sandbox whose creation has failed', async () => {
    await using limited = await openCounting(1, 2);
    for (const session of [ONE, TWO])
      expect(await limited.shell.run(session, 'true')).toMatchObject([
        { output: 'The sandbox could not be created.', is_error: true },
      ]);
    expect(await limited.shell.run(ONE, 'echo done')).toMatchObject([{ output: 'done\n' }]);
  });
});

describe('SandboxPool: a requested end', () => {
  it.each([true, false])(
    'ends the running command and tells the model (with a hint: %s)',
    async (isHinted) => {
      await using shell = await openShellRunner();
      await shell.run(ONE, 'echo kept > f');
      const turnId = await shell.startEndless(ONE, 'echo lost > f');
      const [sandboxId = ''] = takenIds(shell);
      shell.sessions.ending.add(sandboxId);
      if (isHinted) shell.context.bus.publish('sandboxes.ended', sandboxId);
      await shell.advanceUntil(
        'the turn has ended',
        () => shell.sessions.journalOf(turnId).outcomes.length > 0,
        isHinted ? 1 : 500,
      );
      const [result] = resultsOf(shell.sessions.journalOf(turnId));
      expect(result?.is_error).toBe(true);
      expect(result?.output).toMatch(
        /^\[The command was killed\.\]\n\[.* were not saved: The sandbox was ended/,
      );
      await until('the sandbox is released', () => statusOf(shell, sandboxId) === 'released');
      expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
      expect(shell.sandboxDirectories()).toHaveLength(1);
    },
  );
});

describe('SandboxPool: a lost sandbox', () => {
  const removeSandboxes = (shell: ShellRunner) => {
    for (const path of shell.sandboxDirectories()) rmSync(path, { recursive: true, force: true });
  };

  it('is replaced and restored from the workspace, and the turn continues', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'mkdir d; echo kept > d/f');
    removeSandboxes(shell);
    const [result, next] = await shell.run(ONE, 'cat d/f; echo more > d/g', 'cat d/g');
    expect(result).toMatchObject({ output: 'kept\n', is_error: false, workspace_version: 2 });
    expect(next).toMatchObject({ output: 'more\n' });
    const [first, second] = takenIds(shell);
    await until(
      'both are reported',
      () => statusOf(shell, first) === 'lost' && statusOf(shell, second) === 'ready',
    );
    expect(shell.files.tree(ONE)).toEqual({ d: null, 'd/f': 'kept\n', 'd/g': 'more\n' });
  });

  it('is replaced between two commands of a turn', async () => {
    await using shell = await openShellRunner();
    shell.sessions.before.report = ({ reports }) => {
      const ends = reports.some(({ events }) => events.some(({ type }) => type === 'agent.tool_result'));
      if (ends) removeSandboxes(shell);
    };
    const results = await shell.run(ONE, 'echo one > f', 'cat f; echo two > g', 'cat f g');
    expect(results.map(({ output }) => output)).toEqual(['', 'one\n', 'one\ntwo\n']);
    expect(takenIds(shell)).toHaveLength(3);
  });

  it('loses only the changes of the command that was running', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'echo kept > f');
    shell.startTurn(
      { turnId: 'trn_1', sessionId: ONE },
      'touch runs; while [ -e runs ]; do sleep 0.02; done',
      'cat f',
    );
    await until('the command runs', () => shell.filesOnDisk().some((path) => path.endsWith('/runs')));
    removeSandboxes(shell);
    const [result, next] = resultsOf(await shell.waitForOutcome('trn_1'));
    expect(result?.is_error).toBe(true);
    expect(result?.output).toBe('The sandbox was lost. The workspace changes of the command were not saved.');
    expect(next).toMatchObject({ output: 'kept\n', is_error: false });
    expect(shell.files.tree(ONE)).toEqual({ f: 'kept\n' });
  });
});

describe('a command whose turn is lost', () => {
  it.each(['interrupted', 'leased by another runner'])(
    'is ended without saving its changes when the turn was %s',
    async (why) => {
      await using shell = await openShellRunner();
      await shell.run(ONE, 'echo kept | tee f > kept');
      const turnId = await shell.startEndless(ONE, 'echo lost > f; rm kept; echo lost > g');
      const version = shell.files.version(ONE);
      const renewals = shell.sessions.renewals.length;
      shell.sessions.revokeLease(turnId);
      if (why === 'interrupted') shell.context.bus.publish('turns.interrupted', turnId);
      else
        await shell.advanceUntil(
          'the lease renewal is refused',
          () => shell.sessions.renewals.length > renewals,
          100,
        );
      expect((await shell.run(ONE, 'ls; cat f'))[0]?.output).toBe('f\nkept\nkept\n');
      expect(shell.files.version(ONE)).toBe(version);
      expect(dataOf(shell.sessions.journalOf(turnId), 'agent.tool_result')).toEqual([]);
    },
  );

  it('is not committed when the lease is lost between the command and the commit', async () => {
    await using shell = await openShellRunner();
    shell.files.before.changeWorkspace = () => shell.sessions.revokeLease('trn_1');
    shell.startTurn({ turnId: 'trn_1', sessionId: ONE }, 'echo lost > f');
    await until('the commit was tried', () => shell.files.changes.length === 1);
    shell.files.before.changeWorkspace = undefined;
    expect((await shell.run(ONE, 'ls -A'))[0]?.output).toBe('');
    expect(shell.files.tree(ONE)).toEqual({});
    expect(shell.sessions.journalOf('trn_1').outcomes).toEqual([]);
  });

  it('has an unknown outcome and no saved changes after its runner has crashed', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'echo kept > f');
    const turnId = await shell.startEndless(ONE, 'echo lost > f');
    shell.sessions.revokeLease(turnId);
    await shell.crash();
    shell.requeue(turnId);
    const journal = await shell.waitForOutcome(turnId);
    expect(resultsOf(journal)).toMatchObject([
      { output: 'The tool was cut off while it ran. Whether it took effect is unknown.', is_error: true },
    ]);
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
    expect(takenIds(shell)).toHaveLength(2);
  });

  it('is ended without saving its changes when the time budget of the turn is used up', async () => {
    await using shell = await openShellRunner();
    shell.queueTurns(
      {
        ...script({ tool: 'bash', input: { command: 'echo lost > f; while true; do sleep 0.05; done' } }),
        budget: { maxTurnSeconds: 60 },
      },
      { ...queuedTurn('trn_1', ''), sessionId: ONE },
    );
    await until('the command runs', () => shell.filesOnDisk().some((path) => path.endsWith('/f')));
    await shell.advanceUntil(
      'the turn has ended',
      () => shell.sessions.journalOf('trn_1').outcomes.length > 0,
      1_000,
    );
    expect(outcomeOf(shell.sessions.journalOf('trn_1'))).toMatchObject({
      value: { stopReason: 'budget_reached' },
    });
    expect((await shell.run(ONE, 'ls'))[0]?.output).toBe('');
  });
});

describe('Runner.drain', () => {
  it('ends commands and sandboxes, reports their end and hands the turn back', async () => {
    await using shell = await openShellRunner();
    const turnId = await shell.startEndless(ONE, 'echo lost > f');
    const [sandboxId] = takenIds(shell);
    const drained = shell.runner.drain?.();
    await shell.advanceUntil('the turn is handed back', () => shell.sessions.running === 0, 100);
    await drained;
    expect(statusOf(shell, sandboxId)).toBe('released');
    expect(shell.sandboxDirectories()).toEqual([]);
    expect(outcomeOf(shell.sessions.journalOf(turnId))?.$case).toBe('retry');
    expect(shell.files.tree(ONE)).toEqual({});
  });
});

describe('SandboxPool: a shared sandbox', () => {
  it('has one workspace for each session of the agent, and shared temporary files', async () => {
    await using shell = await openShellRunner();
    shell.agents.changeEnvironment({ tenancy: 'agent' });
    await shell.run(ONE, 'echo one > f; echo shared > /tmp/outside');
    const [result] = await shell.run(TWO, 'ls; cat /tmp/outside; echo two > f');
    expect(result?.output).toBe('shared\n');
    expect([shell.files.tree(ONE), shell.files.tree(TWO)]).toEqual([{ f: 'one\n' }, { f: 'two\n' }]);
    expect(shell.sessions.takeRequests).toMatchObject([
      { tenancy: 'agent', tenantId: 'agt_1', lease: { sessionId: ONE } },
      { tenancy: 'agent', tenantId: 'agt_1', lease: { sessionId: TWO } },
    ]);
    expect(takenIds(shell)).toHaveLength(1);
  });

  it('runs commands of two sessions at the same time, and interrupts only one of them', async () => {
    await using shell = await openShellRunner();
    shell.agents.changeEnvironment({ tenancy: 'agent' });
    const turnId = await shell.startEndless(ONE);
    expect((await shell.run(TWO, 'echo meanwhile'))[0]?.output).toBe('meanwhile\n');
    shell.sessions.revokeLease(turnId);
    shell.context.bus.publish('turns.interrupted', turnId);
    expect((await shell.run(TWO, 'echo still'))[0]?.output).toBe('still\n');
  });

  it('keeps the 64 workspaces that were used last, and restores others on their next use', async () => {
    await using shell = await openShellRunner();
    shell.agents.changeEnvironment({ tenancy: 'agent' });
    const sessions = Array.from({ length: 65 }, (_, i) => `ses_${String(i).padStart(26, '0')}`);
    for (const session of sessions) await shell.run(session, 'touch kept');
    const marks = () => shell.filesOnDisk().filter((path) => path.endsWith('/kept'));
    await until('the first workspace is removed', () => marks().length === 64);
    const copies = () => shell.filesOnDisk().filter((path) => path.endsWith('/files'));
    await until('its directory is removed', () => copies().length === 64);
    expect((await shell.run(sessions[0] ?? '', 'ls'))[0]?.output).toBe('kept\n');
    expect(takenIds(shell)).toHaveLength(1);
    expect(shell.files.checkouts.whole).toBe(66);
  });

  it('is not shared between owners of sessions of one agent', async () => {
    await using shell = await openShellRunner();
    shell.agents.changeEnvironment({ tenancy: 'agent' });
    shell.startTurn({ turnId: 'trn_1', sessionId: ONE, ownerId: 'usr_1' }, 'echo mine > /tmp/outside');
    await shell.waitForOutcome('trn_1');
    shell.startTurn({ turnId: 'trn_2', sessionId: TWO, ownerId: 'usr_2' }, 'cat /tmp/outside');
    expect(resultsOf(await shell.waitForOutcome('trn_2'))[0]?.output).not.toContain('mine');
    expect(takenIds(shell)).toHaveLength(2);
  });

  it('has one workspace for all sessions of an assistant', async () => {
    await using shell = await openShellRunner();
    const agentId = 'ast_0000000000000000000000000A';
    for (const session of [ONE, TWO]) shell.files.assistants.set(session, agentId);
    shell.startTurn({ turnId: 'trn_1', sessionId: ONE, agentId }, 'echo one > f');
    await shell.waitForOutcome('trn_1');
    shell.startTurn({ turnId: 'trn_2', sessionId: TWO, agentId }, 'cat f; echo two > f');
    expect(resultsOf(await shell.waitForOutcome('trn_2'))[0]?.output).toBe('one\n');
    expect(shell.files.tree(ONE)).toEqual({ f: 'two\n' });
    expect(shell.sessions.takeRequests).toMatchObject([
      { tenancy: 'assistant', tenantId: agentId },
      { tenantId: agentId },
    ]);
    expect(takenIds(shell)).toHaveLength(1);
    expect(shell.files.checkouts.whole).toBe(1);
  });
});

describe('SandboxPool: the environment', () => {
  it('replaces the sandbox when the environment has changed', async () => {
    await using shell = await openShellRunner();
    await shell.run(ONE, 'echo kept > f');
    shell.agents.changeEnvironment({ variables: { NEW: '1' } });
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
    expect(shell.sessions.takeRequests).toMatchObject([{ environmentVersion: 1 }, { environmentVersion: 2 }]);
    const [first] = takenIds(shell);
    await until('the first sandbox is released', () => statusOf(shell, first) === 'released');
    expect(shell.sandboxDirectories()).toHaveLength(1);
  });

  it.each([
    ['is disabled', {}, { enabled: false }, 'The environment default is disabled.'],
    [
      'requires a provider that is not available',
      { sandbox: { provider: 'docker', image: '', commandTimeoutSeconds: 1 } },
      {},
      'The sandbox provider docker is not available on this runner.',
    ],
  ])('runs no command and tells the model when it %s', async (_, spec, more, output) => {
    await using shell = await openShellRunner();
    shell.agents.changeEnvironment(spec, more);
    expect(await shell.run(ONE, 'true')).toMatchObject([{ output, is_error: true }]);
    expect(shell.sandboxDirectories()).toEqual([]);
  });
});

describe('a command while the files service is unavailable', () => {
  it('commits its changes when the service recovers in time', async () => {
    await using shell = await openShellRunner();
    let failures = 3;
    shell.files.before.changeWorkspace = () => {
      if (failures-- > 0) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
    };
    shell.startTurn({ turnId: 'trn_1', sessionId: ONE }, 'echo kept > f');
    // The time limit of the command must not pass while it runs.
    await until('the changes are sent', () => shell.files.changes.length > 0);
    await shell.advanceUntil(
      'the turn has ended',
      () => shell.sessions.journalOf('trn_1').outcomes.length > 0,
      20,
    );
    expect(resultsOf(shell.sessions.journalOf('trn_1'))).toMatchObject([
      { is_error: false, workspace_version: 1 },
    ]);
    expect(shell.files.tree(ONE)).toEqual({ f: 'kept\n' });
  });

  it('tells the model that its changes may not have been saved, and the next command sees the saved state', async () => {
    await using shell = await openShellRunner();
    shell.files.before.changeWorkspace = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
    };
    shell.startTurn({ turnId: 'trn_1', sessionId: ONE }, 'echo lost > f; echo done');
    await until('the changes are sent', () => shell.files.changes.length > 0);
    await shell.advanceUntil(
      'the turn has ended',
      () => shell.sessions.journalOf('trn_1').outcomes.length > 0,
      500,
    );
    expect(resultsOf(shell.sessions.journalOf('trn_1'))[0]?.output).toMatch(
      /^done\n\[It is unknown whether the workspace changes .* were saved: the database is unavailable\]$/,
    );
    shell.files.before.changeWorkspace = undefined;
    expect((await shell.run(ONE, 'ls'))[0]?.output).toBe('');
    expect(existsSync(shell.sandboxDirectories()[0] ?? '')).toBe(true);
  });
});
