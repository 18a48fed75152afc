import { describe, expect, it } from 'vitest';
import { openShellRunner } from './shell-runner.ts';
import { openSimulatedProviders } from './simulated-providers.ts';

const MIB = 1024 * 1024;
const SESSION = 'ses_01KAK3V9Q6W1X2Y3Z4A5B6C7D8';

/** Opens a runner whose workspace copies have a limit of 1 MiB. */
async function openLimitedRunner() {
  const opened = new AsyncDisposableStack();
  const simulated = opened.use(openSimulatedProviders({ workspaceBytes: MIB }));
  const shell = opened.use(await openShellRunner({ sandboxes: simulated.providers }));
  return { shell, simulated, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe('the limit of a workspace copy', () => {
  it('discards the changes of a command that reaches it, names them and empties the copy', async () => {
    await using opened = await openLimitedRunner();
    const { shell, simulated } = opened;
    const fill = 'for name in a b c; do printf "%0600000d" 1 > $name; done';
    const [, filled] = await shell.run(SESSION, 'echo kept > kept', fill);
    expect(filled?.is_error).toBe(true);
    expect(filled?.output).toContain(
      '[All workspace changes of the command (a, b) were discarded, because the copy of the workspace reached its limit of 1 ' +
        'MiB. Files from before the command are unchanged.]',
    );
    expect(simulated.files().filter((path) => /\/(a|kept)$/.test(path))).toEqual([]);
    expect(shell.files.tree(SESSION)).toEqual({ kept: 'kept\n' });
    expect(await shell.run(SESSION, 'ls')).toMatchObject([{ output: 'kept\n', is_error: false }]);
  });

  it('fails a command with SANDBOX_UNAVAILABLE and both sizes when the workspace exceeds it', async () => {
    await using opened = await openLimitedRunner();
    const { shell, simulated } = opened;
    await shell.run(SESSION, 'echo small > small');
    shell.files.upload(SESSION, { large: 'x'.repeat(1.5 * MIB) });
    const [refused] = await shell.run(SESSION, 'ls');
    expect(refused?.is_error).toBe(true);
    expect(refused?.output).toMatch(
      /^SANDBOX_UNAVAILABLE: The workspace has 1\.5 MiB in 2 files, and its copy in this sandbox can have 1 MiB in 200000 files\./,
    );
    expect(simulated.files().filter((path) => /\/(large|small)$/.test(path))).toEqual([]);
    shell.files.upload(SESSION, { large: null });
    expect(await shell.run(SESSION, 'ls')).toMatchObject([{ output: 'small\n', is_error: false }]);
  });
});
