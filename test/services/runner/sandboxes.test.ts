import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { until } from '../../support/wait.ts';
import { dataOf, outcomeOf, script } from './open.ts';
import { asked } from './sessions.ts';
import { openShell, resultsOf, type ShellUnderTest } from './shell.ts';

const [ONE, TWO] = ['ses_00000000000000000000000001', 'ses_00000000000000000000000002'];

/** The ids of all that were ever taken, in order. */
const takenBy = (shell: ShellUnderTest) => [...new Set(shell.book.taken.map(({ sandboxId }) => sandboxId))];
const statusOf = (shell: ShellUnderTest, sandboxId = '') => shell.book.sandboxes[sandboxId];

describe('the sandbox of a session', () => {
  it('is made with the first command, taken under the lease, and reported', async () => {
    await using shell = await openShell();
    expect(shell.onDisk()).toEqual([]);
    await shell.run(ONE, 'true', 'true');
    expect(shell.book.taken).toHaveLength(1);
    expect(shell.book.taken[0]).toMatchObject({
      provider: 'simulated',
      isolation: 'simulation',
      tenancy: 'session',
      tenantId: ONE,
      environmentId: 'env_00000000000000000000000001',
      environmentVersion: 1,
      lease: { sessionId: ONE, fence: 1 },
    });
    expect(JSON.parse(shell.book.taken[0]?.limitsJson ?? '')).toHaveProperty('memoryMib');
    const [sandboxId] = takenBy(shell);
    await until('it is reported', () => statusOf(shell, sandboxId) === 'ready');
    expect(shell.onDisk()).toHaveLength(1);
  });

  it('is the same in the next turn, with what is outside of the workspace, and taken again', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'echo one > /tmp/outside');
    const [result] = await shell.run(ONE, 'cat /tmp/outside');
    expect(result?.output).toBe('one\n');
    expect(shell.book.taken).toHaveLength(2);
    expect(takenBy(shell)).toHaveLength(1);
    expect(shell.files.checkouts.whole).toBe(1);
  });

  it('is another one for another session', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'touch mine');
    const [result] = await shell.run(TWO, 'ls');
    expect(result?.output).toBe('');
    expect(takenBy(shell)).toHaveLength(2);
  });

  it('is reported every few seconds', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'true');
    await until('it is reported', () => shell.book.sandboxReports.length > 0);
    const before = shell.book.sandboxReports.length;
    await shell.passTime('it is reported again', () => shell.book.sandboxReports.length >= before + 3, 500);
    expect(shell.book.sandboxReports.at(-1)?.sandboxes).toMatchObject([{ status: 'ready' }]);
  });

  it('has commands that are called together take turns', async () => {
    await using shell = await openShell();
    const append = 'n=$(cat f 2>/dev/null || echo 0); sleep 0.1; echo $((n + 1)) > f';
    const step = { tool: 'bash', input: { command: append } };
    shell.ask(script(step, step, step), { ...asked('trn_1', ''), sessionId: ONE });
    const journal = await shell.ended('trn_1');
    expect(resultsOf(journal).map((one) => one.workspace_version)).toEqual([1, 2, 3]);
    expect(shell.files.tree(ONE)).toEqual({ f: '3\n' });
    expect(shell.book.taken.length).toBeGreaterThan(0);
    expect(takenBy(shell)).toHaveLength(1);
  });

  it('is not spoken of before it is taken', async () => {
    await using shell = await openShell();
    await shell.run(TWO, 'true');
    await until('that of the other is reported', () => shell.book.sandboxReports.length > 0);
    const before = shell.book.sandboxReports.length;
    shell.book.before.take = () =>
      shell.passTime('there is another report', () => shell.book.sandboxReports.length > before, 500);
    expect((await shell.run(ONE, 'echo done'))[0]?.output).toBe('done\n');
    const [other = '', own = ''] = takenBy(shell);
    await until('it is reported', () => statusOf(shell, own) === 'ready');
    expect(shell.book.sandboxReports[before]?.sandboxes).toMatchObject([{ sandboxId: other }]);
  });

  it('is made anew when sessions does not grant it any more', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'echo kept > f');
    const [first = ''] = takenBy(shell);
    shell.book.ending.add(first);
    const [result] = await shell.run(ONE, 'cat f');
    expect(result?.output).toBe('kept\n');
    expect(takenBy(shell)).toHaveLength(2);
    await until('the first one is gone', () => statusOf(shell, first) === 'released');
    expect(shell.onDisk()).toHaveLength(1);
  });
});

describe('a sandbox that is not used', () => {
  it('is suspended, and goes on when it is needed', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'echo one > /tmp/outside');
    const [sandboxId] = takenBy(shell);
    await shell.passTime('it sleeps', () => statusOf(shell, sandboxId) === 'suspended', 30_000);
    const [result] = await shell.run(ONE, 'cat /tmp/outside');
    expect(result?.output).toBe('one\n');
    await until('it is ready', () => statusOf(shell, sandboxId) === 'ready');
    expect(takenBy(shell)).toHaveLength(1);
  });

  it('is released when nobody has woken it for a day', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'echo kept > f');
    const [sandboxId] = takenBy(shell);
    await shell.passTime('it sleeps', () => statusOf(shell, sandboxId) === 'suspended', 30_000);
    const hour = 3_600_000;
    await shell.passTime('it is released', () => statusOf(shell, sandboxId) === 'released', hour);
    expect(shell.onDisk()).toEqual([]);
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
  });

  it('is released where its environment says so, and the next command has a new one', async () => {
    await using shell = await openShell();
    shell.agents.environment({ idle: { timeoutSeconds: 60, action: 'release' } });
    await shell.run(ONE, 'echo kept > f');
    const [sandboxId] = takenBy(shell);
    await shell.passTime('it is released', () => statusOf(shell, sandboxId) === 'released', 5_000);
    expect(shell.onDisk()).toEqual([]);
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
    expect(takenBy(shell)).toHaveLength(2);
  });

  it('is released when a runner has as many as it may have', async () => {
    await using shell = await openShell({ mostSandboxes: 1 });
    await shell.run(ONE, 'echo kept > f');
    await shell.run(TWO, 'true');
    const [first, second] = takenBy(shell);
    await until(
      'all is told',
      () => statusOf(shell, first) === 'released' && statusOf(shell, second) === 'ready',
    );
    expect(shell.onDisk()).toHaveLength(1);
    await shell.begins(TWO);
    expect((await shell.run(ONE, 'cat f'))[0]).toMatchObject({
      output: 'all 1 sandboxes of this runner are in use',
      is_error: true,
    });
  });
});

describe('a sandbox that is to end', () => {
  it.each([true, false])('ends what runs in it, and the model is told; with a hint: %s', async (isHinted) => {
    await using shell = await openShell();
    await shell.run(ONE, 'echo kept > f');
    const turnId = await shell.begins(ONE, 'echo lost > f');
    const [sandboxId = ''] = takenBy(shell);
    shell.book.ending.add(sandboxId);
    if (isHinted) shell.context.bus.publish('sandboxes.ended', sandboxId);
    await shell.passTime(
      'the turn has ended',
      () => shell.book.of(turnId).outcomes.length > 0,
      isHinted ? 1 : 500,
    );
    const [result] = resultsOf(shell.book.of(turnId));
    expect(result?.is_error).toBe(true);
    expect(result?.output).toMatch(/^\[The command was ended\.\]\n\[.* is not kept: The sandbox was ended/);
    await until('it is gone', () => statusOf(shell, sandboxId) === 'released');
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
    expect(shell.onDisk()).toHaveLength(1);
  });
});

describe('a sandbox that has vanished', () => {
  const vanish = (shell: ShellUnderTest) => {
    for (const path of shell.onDisk()) rmSync(path, { recursive: true, force: true });
  };

  it('is made again, restored from the workspace, and the turn goes on', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'mkdir d; echo kept > d/f');
    vanish(shell);
    const [result, next] = await shell.run(ONE, 'cat d/f; echo more > d/g', 'cat d/g');
    expect(result).toMatchObject({ output: 'kept\n', is_error: false, workspace_version: 2 });
    expect(next).toMatchObject({ output: 'more\n' });
    const [first, second] = takenBy(shell);
    await until(
      'all is told',
      () => statusOf(shell, first) === 'lost' && statusOf(shell, second) === 'ready',
    );
    expect(shell.files.tree(ONE)).toEqual({ d: null, 'd/f': 'kept\n', 'd/g': 'more\n' });
  });

  it('is made again between two commands of a turn', async () => {
    await using shell = await openShell();
    shell.book.before.report = ({ reports }) => {
      const ends = reports.some(({ events }) => events.some(({ type }) => type === 'agent.tool_result'));
      if (ends) vanish(shell);
    };
    const results = await shell.run(ONE, 'echo one > f', 'cat f; echo two > g', 'cat f g');
    expect(results.map(({ output }) => output)).toEqual(['', 'one\n', 'one\ntwo\n']);
    expect(takenBy(shell)).toHaveLength(3);
  });

  it('while a command runs takes along what that has changed, and no more', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'echo kept > f');
    shell.tell(
      { turnId: 'trn_1', sessionId: ONE },
      'touch runs; while [ -e runs ]; do sleep 0.02; done',
      'cat f',
    );
    await until('it runs', () => shell.filesOnDisk().some((path) => path.endsWith('/runs')));
    vanish(shell);
    const [result, next] = resultsOf(await shell.ended('trn_1'));
    expect(result?.is_error).toBe(true);
    expect(result?.output).toBe(
      'The sandbox was lost. What the command has changed in the workspace is not kept.',
    );
    expect(next).toMatchObject({ output: 'kept\n', is_error: false });
    expect(shell.files.tree(ONE)).toEqual({ f: 'kept\n' });
  });
});

describe('a turn that is lost in mid-command', () => {
  it.each(['interrupted', 'given away'])(
    'because it was %s ends its processes and keeps nothing',
    async (why) => {
      await using shell = await openShell();
      await shell.run(ONE, 'echo kept | tee f > kept');
      const turnId = await shell.begins(ONE, 'echo lost > f; rm kept; echo lost > g');
      const version = shell.files.version(ONE);
      const renewals = shell.book.renewals.length;
      shell.book.takeAway(turnId);
      if (why === 'interrupted') shell.context.bus.publish('turns.interrupted', turnId);
      else await shell.passTime('it hears of it', () => shell.book.renewals.length > renewals, 100);
      expect((await shell.run(ONE, 'ls; cat f'))[0]?.output).toBe('f\nkept\nkept\n');
      expect(shell.files.version(ONE)).toBe(version);
      expect(dataOf(shell.book.of(turnId), 'agent.tool_result')).toEqual([]);
    },
  );

  it('is not committed when the lease goes between the command and its commit', async () => {
    await using shell = await openShell();
    shell.files.before.changeWorkspace = () => shell.book.takeAway('trn_1');
    shell.tell({ turnId: 'trn_1', sessionId: ONE }, 'echo lost > f');
    await until('it was tried', () => shell.files.changes.length === 1);
    shell.files.before.changeWorkspace = undefined;
    expect((await shell.run(ONE, 'ls -A'))[0]?.output).toBe('');
    expect(shell.files.tree(ONE)).toEqual({});
    expect(shell.book.of('trn_1').outcomes).toEqual([]);
  });

  it('because its runner went is told of, and what it changed is not there', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'echo kept > f');
    const turnId = await shell.begins(ONE, 'echo lost > f');
    shell.book.takeAway(turnId);
    await shell.crash();
    shell.again(turnId);
    const journal = await shell.ended(turnId);
    expect(resultsOf(journal)).toMatchObject([
      { output: 'The tool was cut off while it ran. Whether it took effect is unknown.', is_error: true },
    ]);
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
    expect(takenBy(shell)).toHaveLength(2);
  });

  it('because the time of the turn was up keeps nothing either', async () => {
    await using shell = await openShell();
    shell.ask(
      {
        ...script({ tool: 'bash', input: { command: 'echo lost > f; while true; do sleep 0.05; done' } }),
        budget: { maxTurnSeconds: 60 },
      },
      { ...asked('trn_1', ''), sessionId: ONE },
    );
    await shell.passTime('the turn has ended', () => shell.book.of('trn_1').outcomes.length > 0, 1_000);
    expect(outcomeOf(shell.book.of('trn_1'))).toMatchObject({ value: { stopReason: 'budget_reached' } });
    expect((await shell.run(ONE, 'ls'))[0]?.output).toBe('');
  });
});

describe('a runner that stops in order', () => {
  it('ends its commands and sandboxes and says so, and another one goes on', async () => {
    await using shell = await openShell();
    const turnId = await shell.begins(ONE, 'echo lost > f');
    const [sandboxId] = takenBy(shell);
    const drained = shell.runner.drain?.();
    await shell.passTime('the turn is handed back', () => shell.book.running === 0, 100);
    await drained;
    expect(statusOf(shell, sandboxId)).toBe('released');
    expect(shell.onDisk()).toEqual([]);
    expect(outcomeOf(shell.book.of(turnId))?.$case).toBe('retry');
    expect(shell.files.tree(ONE)).toEqual({});
  });
});

describe('a shared sandbox', () => {
  it('of an agent has a workspace for each session, and everything else in common', async () => {
    await using shell = await openShell();
    shell.agents.environment({ tenancy: 'agent' });
    await shell.run(ONE, 'echo one > f; echo shared > /tmp/outside');
    const [result] = await shell.run(TWO, 'ls; cat /tmp/outside; echo two > f');
    expect(result?.output).toBe('shared\n');
    expect([shell.files.tree(ONE), shell.files.tree(TWO)]).toEqual([{ f: 'one\n' }, { f: 'two\n' }]);
    expect(shell.book.taken).toMatchObject([
      { tenancy: 'agent', tenantId: 'agt_1', lease: { sessionId: ONE } },
      { tenancy: 'agent', tenantId: 'agt_1', lease: { sessionId: TWO } },
    ]);
    expect(takenBy(shell)).toHaveLength(1);
  });

  it('of an agent runs commands of two sessions at the same time, and the end of one leaves the other alone', async () => {
    await using shell = await openShell();
    shell.agents.environment({ tenancy: 'agent' });
    const turnId = await shell.begins(ONE);
    expect((await shell.run(TWO, 'echo meanwhile'))[0]?.output).toBe('meanwhile\n');
    shell.book.takeAway(turnId);
    shell.context.bus.publish('turns.interrupted', turnId);
    expect((await shell.run(TWO, 'echo still'))[0]?.output).toBe('still\n');
  });

  it('of an agent holds the workspaces that were used last, and brings the others in again', async () => {
    await using shell = await openShell();
    shell.agents.environment({ tenancy: 'agent' });
    const sessions = Array.from({ length: 65 }, (_, i) => `ses_${String(i).padStart(26, '0')}`);
    for (const session of sessions) await shell.run(session, 'touch kept');
    const marks = () => shell.filesOnDisk().filter((path) => path.endsWith('/kept'));
    await until('the first one has made room', () => marks().length === 64);
    expect((await shell.run(sessions[0] ?? '', 'ls'))[0]?.output).toBe('kept\n');
    expect(takenBy(shell)).toHaveLength(1);
    expect(shell.files.checkouts.whole).toBe(66);
  });

  it('of an agent is not shared between owners', async () => {
    await using shell = await openShell();
    shell.agents.environment({ tenancy: 'agent' });
    shell.tell({ turnId: 'trn_1', sessionId: ONE, ownerId: 'usr_1' }, 'echo mine > /tmp/outside');
    await shell.ended('trn_1');
    shell.tell({ turnId: 'trn_2', sessionId: TWO, ownerId: 'usr_2' }, 'cat /tmp/outside');
    expect(resultsOf(await shell.ended('trn_2'))[0]?.output).not.toContain('mine');
    expect(takenBy(shell)).toHaveLength(2);
  });

  it('of an assistant has one workspace for all of its sessions', async () => {
    await using shell = await openShell();
    const agentId = 'ast_0000000000000000000000000A';
    for (const session of [ONE, TWO]) shell.files.assistants.set(session, agentId);
    shell.tell({ turnId: 'trn_1', sessionId: ONE, agentId }, 'echo one > f');
    await shell.ended('trn_1');
    shell.tell({ turnId: 'trn_2', sessionId: TWO, agentId }, 'cat f; echo two > f');
    expect(resultsOf(await shell.ended('trn_2'))[0]?.output).toBe('one\n');
    expect(shell.files.tree(ONE)).toEqual({ f: 'two\n' });
    expect(shell.book.taken).toMatchObject([
      { tenancy: 'assistant', tenantId: agentId },
      { tenantId: agentId },
    ]);
    expect(takenBy(shell)).toHaveLength(1);
    expect(shell.files.checkouts.whole).toBe(1);
  });
});

describe('an environment', () => {
  it('that has changed gets a new sandbox', async () => {
    await using shell = await openShell();
    await shell.run(ONE, 'echo kept > f');
    shell.agents.environment({ variables: { NEW: '1' } });
    expect((await shell.run(ONE, 'cat f'))[0]?.output).toBe('kept\n');
    expect(shell.book.taken).toMatchObject([{ environmentVersion: 1 }, { environmentVersion: 2 }]);
    const [first] = takenBy(shell);
    await until('the first one is gone', () => statusOf(shell, first) === 'released');
    expect(shell.onDisk()).toHaveLength(1);
  });

  it.each([
    ['that is disabled', {}, { enabled: false }, 'the environment default is disabled'],
    [
      'of a provider that is not there',
      { sandbox: { provider: 'docker', image: '', commandTimeoutSeconds: 1 } },
      {},
      'there are no sandboxes of the provider docker on this runner',
    ],
  ])('%s runs no command, and the model is told', async (_, spec, more, output) => {
    await using shell = await openShell();
    shell.agents.environment(spec, more);
    expect(await shell.run(ONE, 'true')).toMatchObject([{ output, is_error: true }]);
    expect(shell.onDisk()).toEqual([]);
  });
});

describe('files that cannot be reached', () => {
  it('for a moment hold a command up', async () => {
    await using shell = await openShell();
    let failures = 3;
    shell.files.before.changeWorkspace = () => {
      if (failures-- > 0) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is away');
    };
    shell.tell({ turnId: 'trn_1', sessionId: ONE }, 'echo kept > f');
    await shell.passTime('the turn has ended', () => shell.book.of('trn_1').outcomes.length > 0, 20);
    expect(resultsOf(shell.book.of('trn_1'))).toMatchObject([{ is_error: false, workspace_version: 1 }]);
    expect(shell.files.tree(ONE)).toEqual({ f: 'kept\n' });
  });

  it('for long are told of, and the next command finds what is kept', async () => {
    await using shell = await openShell();
    shell.files.before.changeWorkspace = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is away');
    };
    shell.tell({ turnId: 'trn_1', sessionId: ONE }, 'echo lost > f; echo done');
    await shell.passTime('the turn has ended', () => shell.book.of('trn_1').outcomes.length > 0, 100);
    expect(resultsOf(shell.book.of('trn_1'))[0]?.output).toMatch(
      /^done\n\[.* is not kept: the database is away\]$/,
    );
    shell.files.before.changeWorkspace = undefined;
    expect((await shell.run(ONE, 'ls'))[0]?.output).toBe('');
    expect(existsSync(shell.onDisk()[0] ?? '')).toBe(true);
  });
});
