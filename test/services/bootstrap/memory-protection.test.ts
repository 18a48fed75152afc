import { readFile } from 'node:fs/promises';
import { close, open } from 'node:inspector';
import { describe, expect, it } from 'vitest';
import { holdsSecrets, snapshotProblems } from '../../../services/bootstrap/memory-protection.ts';
import { cleanUpInstallations, createInstallation } from '../../support/installations.ts';
import { runProgram } from '../../support/program.ts';
import { entriesOf } from '../../support/startup-problems.ts';

cleanUpInstallations();

const coreLimitOf = async (pid: number | 'self') =>
  /^Max core file size +(\S+) +(\S+)/m.exec(await readFile(`/proc/${pid}/limits`, 'utf8'))?.slice(1);

describe('the memory of a process with secrets', () => {
  it('is that of the targets all, channels, runner and vaults', () => {
    const targets = [
      'all',
      'auth',
      'agents',
      'sessions',
      'files',
      'deployments',
      'vaults',
      'runner',
      'channels',
      'edge',
    ] as const;
    expect(targets.filter(holdsSecrets)).toEqual(['all', 'vaults', 'runner', 'channels']);
  });

  it('is in no core dump of the process or its children', async () => {
    const installation = await createInstallation();
    const program = await installation.start();
    for (const pid of [program.pid, await installation.postgresPid()]) {
      expect(await coreLimitOf(pid)).toEqual(['1', '1']);
      expect((await readFile(`/proc/${pid}/coredump_filter`, 'utf8')).trim()).toBe('00000000');
    }
  });

  it.each([
    ['the command line', { execArgv: ['--heapsnapshot-signal=SIGUSR2'] }, 'The command line of node'],
    [
      'NODE_OPTIONS',
      { execArgv: [], nodeOptions: '--no-warnings --heapsnapshot_signal SIGUSR2' },
      'NODE_OPTIONS',
    ],
    ['quotes', { execArgv: [], nodeOptions: '"--heapsnapshot-near-heap-limit=2"' }, 'NODE_OPTIONS'],
  ])('is not written by an option in %s', (_, options, variable) => {
    expect(snapshotProblems(options, false)).toMatchObject([{ variable }]);
  });

  it('may be inspected in local mode only', () => {
    const options = { execArgv: ['--heap-prof', '--cpu-prof'], nodeOptions: '--max-old-space-size=400' };
    expect(snapshotProblems(options, true)).toEqual([]);
    open(0, '127.0.0.1');
    try {
      expect(snapshotProblems(options, true)).toMatchObject([{ variable: 'The inspector of Node' }]);
      expect(snapshotProblems(options, false)).toEqual([]);
    } finally {
      close();
    }
  });
});

describe('a start with --heapsnapshot-signal', () => {
  const NODE_OPTIONS = '--heapsnapshot-signal=SIGUSR2';
  const titlesOf = async (target: string) => {
    const program = runProgram({ NODE_OPTIONS }, [`--target=${target}`]);
    expect(await program.exited).toBe(1);
    return entriesOf(program.output()).map(({ title }) => title.replace(/\s+/g, ' '));
  };

  it.each(['runner', 'vaults'])('is refused for the target %s', async (target) => {
    expect(await titlesOf(target)).toContain(
      'NODE_OPTIONS contains --heapsnapshot-signal, and snapshots of this process contain secrets of vaults',
    );
  });

  it('is not refused for the target edge', async () => {
    const titles = await titlesOf('edge');
    expect(titles.length).toBeGreaterThan(0);
    expect(titles.join()).not.toContain('NODE_OPTIONS');
  });
});
