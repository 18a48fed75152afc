import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../lib/clock.ts';
import { createLog } from '../../../../lib/log.ts';
import { internetDialer } from '../../../../lib/outbound/dialer.ts';
import { ControlGroup } from '../../../../services/runner/kernel/cgroups/control-group.ts';
import type { SandboxProvider } from '../../../../services/runner/sandbox/sandbox.ts';
import { PIPE_COUNT } from '../../../../services/runner/sandbox-providers/bubblewrap/command-pipes.ts';
import type { NamespaceSet } from '../../../../services/runner/sandbox-providers/bubblewrap/namespace-set.ts';
import { PipePool, type PipeSet } from '../../../../services/runner/sandbox-providers/bubblewrap/pipes.ts';
import { findPrograms } from '../../../../services/runner/sandbox-providers/bubblewrap/programs.ts';
import { createBubblewrapProvider } from '../../../../services/runner/sandbox-providers/bubblewrap/provider.ts';
import { RunningCommand } from '../../../../services/runner/sandbox-providers/bubblewrap/running-command.ts';
import { BubblewrapSandbox } from '../../../../services/runner/sandbox-providers/bubblewrap/sandbox.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { advanceUntil, until } from '../../../support/wait.ts';
import { processesWith, uniqueSeconds } from './bubblewrap-suite.ts';
import { sandboxSpec } from './run-script.ts';
import { openSandboxRoot, openSkillDirectory } from './space-fixture.ts';

/** Files that are open when the process of a command starts: both ends of each pipe, and the seccomp filter. */
const OPEN_FILES = 2 * PIPE_COUNT + 1;

/** A directory with an executable shell script that takes the place of bubblewrap. */
function openFixture(script: string) {
  const directory = mkdtempSync(join(tmpdir(), 'ahs-fake-bwrap-'));
  const program = join(directory, 'bwrap');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return {
    directory,
    program,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function openProvider(directory: string, bwrap: string): SandboxProvider {
  return createBubblewrapProvider({
    root: openSandboxRoot(join(directory, 'sandboxes'), systemClock),
    skillDirectory: openSkillDirectory(join(directory, 'skills')).path,
    clock: systemClock,
    programs: { bwrap, nsenter: '', prlimit: '', bash: '/bin/bash', mkfifo: '' },
    systemMounts: { forNamespaceSet: [], forCommand: [] },
    filterPath: '/dev/null',
    parentGroups: [],
    dialer: internetDialer,
    egressMetrics: { noteRequest() {} },
    log: createLog({ level: 'silent', destination: { write() {} } }),
    uidPool: undefined,
    volumes: undefined,
  });
}

describe.runIf(process.platform === 'linux')('createBubblewrapProvider', () => {
  it.each([
    ['the namespace holder is not found', (seconds: string) => `echo ready; exec sleep ${seconds}`],
    [
      'the namespaces of the holder cannot be opened',
      (seconds: string) => `sleep ${seconds} & echo ready; wait`,
    ],
    [
      'the holder has started further processes',
      (seconds: string) => `sh -c "sleep ${seconds} & sleep ${seconds} & wait" & echo ready; wait`,
    ],
  ])('kills all processes and removes the directory when %s', async (_, scriptOf) => {
    const seconds = uniqueSeconds();
    using fixture = openFixture(scriptOf(seconds));
    const provider = openProvider(fixture.directory, fixture.program);
    await expect(provider.create(sandboxSpec())).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
    expect(processesWith(fixture.program)).toEqual([]);
    expect(readdirSync(join(fixture.directory, 'sandboxes'))).toEqual(['.trash']);
  });
});

describe.runIf(process.platform === 'linux')('RunningCommand', () => {
  it('kills the spawned program when the first process of the command is not found', async () => {
    const seconds = uniqueSeconds();
    using fixture = openFixture(`echo '{"child-pid": 1}' >&5; sleep ${seconds} & wait`);
    using pipes = await openPipes(fixture.directory, PIPE_COUNT);
    const running = new RunningCommand({
      argv: [fixture.program],
      pipes,
      clock: systemClock,
      filterPath: '/dev/null',
      stdin: undefined,
      output() {},
    });
    await expect(running.confined()).rejects.toThrow('process');
    await running.kill();
    expect(await running.waitUntilEnded()).toBe(true);
    expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
  });

  it.each([
    ['a pipe', 6],
    ['the seccomp filter', OPEN_FILES - 1],
  ])(
    'closes the pipes that it has opened when %s cannot be opened because too many files are open',
    async (_, free) => {
      using fixture = openFixture('exit');
      using pipes = await openPipes(fixture.directory, PIPE_COUNT);
      {
        using _limit = limitOpenFiles(free);
        expect(() => startWith(fixture.program, pipes)).toThrow('EMFILE');
      }
      expect(openPipesOf(fixture.directory)).toEqual([]);
    },
  );

  it('rejects and closes its pipes when no process can be started because too many files are open', async () => {
    using fixture = openFixture('exit');
    using pipes = await openPipes(fixture.directory, PIPE_COUNT);
    let running: RunningCommand;
    {
      using _limit = limitOpenFiles(OPEN_FILES);
      running = startWith(fixture.program, pipes);
    }
    await expect(running.confined()).rejects.toThrow('EMFILE');
    await running.kill();
    expect(await running.waitUntilEnded()).toBe(true);
    await until('the pipes are closed', () => openPipesOf(fixture.directory).length === 0);
  });
});

const startWith = (program: string, pipes: PipeSet) =>
  new RunningCommand({
    argv: [program],
    pipes,
    clock: systemClock,
    filterPath: '/dev/null',
    stdin: new Uint8Array(1),
    output() {},
  });

/** Lets this process open only `free` more files until it is disposed. */
function limitOpenFiles(free: number): Disposable {
  const [, soft = ''] = /^Max open files +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  const limit = (files: number | string) =>
    execFileSync('prlimit', [`--pid=${process.pid}`, `--nofile=${files}:`], { stdio: 'ignore' });
  const held: number[] = [];
  const dispose = () => {
    for (const fd of held.splice(0)) closeSync(fd);
    limit(soft);
  };
  limit(Math.max(...readdirSync('/proc/self/fd').map(Number)) + 2 * OPEN_FILES);
  try {
    for (;;) held.push(openSync('/dev/null', 'r'));
  } catch {
    for (const fd of held.splice(-free)) closeSync(fd);
  }
  return { [Symbol.dispose]: dispose };
}

/** Creates named pipes in a directory. */
async function openPipes(directory: string, count: number): Promise<PipeSet> {
  const found = findPrograms();
  const mkfifo = 'mkfifo' in found ? found.mkfifo : '/usr/bin/mkfifo';
  const path = join(directory, 'pipes');
  mkdirSync(path);
  return new PipePool(path, mkfifo).acquire(count);
}

/** Returns the pipes below a directory that this process has open. */
function openPipesOf(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(directory) ? [path] : [];
    } catch {
      // The file descriptor that reads the directory.
      return [];
    }
  });
}

/** A sandbox without processes whose control group cannot be removed. */
async function openSandbox(closeNamespaces: () => Promise<void>) {
  const directory = mkdtempSync(join(tmpdir(), 'ahs-sandbox-'));
  const clock = createFakeClock();
  const spec = sandboxSpec();
  const root = openSandboxRoot(join(directory, 'sandboxes'), clock);
  // The kernel refuses to remove a directory that is not empty with the same error as a control group in use.
  const parent = { version: 2 as const, path: join(directory, 'groups'), controllers: [] };
  mkdirSync(join(parent.path, spec.sandboxId, 'child'), { recursive: true });
  const unlimited = { value: null, enforcement: 'none' as const };
  const unlimitedSpace = { ...unlimited, method: 'none' };
  const ends: string[] = [];
  const sandbox = new BubblewrapSandbox({
    spec,
    directory: root.create(spec.sandboxId),
    root,
    clock,
    programs: { bwrap: '', nsenter: '', prlimit: '', bash: '', mkfifo: '' },
    systemMounts: { forNamespaceSet: [], forCommand: [] },
    filterPath: '/dev/null',
    openNamespaces: async () => ({ namespaces: {} as NamespaceSet, close: closeNamespaces }),
    group: ControlGroup.find([parent], spec.sandboxId, clock),
    rlimits: {},
    effectiveLimits: {
      cpuMillis: unlimited,
      memoryMib: unlimited,
      pids: unlimited,
      diskMib: unlimitedSpace,
      workspaceMib: unlimitedSpace,
      workspaceFiles: unlimitedSpace,
    },
    networkVariables: {},
    interceptor: undefined,
    onEnd: () => ends.push(spec.sandboxId),
  });
  await sandbox.resume();
  return {
    root,
    ends,
    spec,
    /** Destroys the sandbox, and returns the error of that. */
    async destroy(): Promise<unknown> {
      let failure: { error: unknown } | undefined;
      sandbox.destroy().then(
        () => (failure = { error: undefined }),
        (error: unknown) => (failure = { error }),
      );
      const pass = () => clock.advance(100);
      const { error } = await advanceUntil('the sandbox is destroyed', pass, () => failure);
      return error;
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

describe('BubblewrapSandbox.destroy', () => {
  it('closes the namespaces and removes the directory when the control group cannot be removed', async () => {
    let isClosed = false;
    using sandbox = await openSandbox(async () => {
      isClosed = true;
    });
    expect(await sandbox.destroy()).toMatchObject({ message: expect.stringContaining('control group') });
    expect(isClosed).toBe(true);
    expect(sandbox.ends).toEqual([sandbox.spec.sandboxId]);
    expect(sandbox.root.sandboxIds()).toEqual([]);
  });

  it('removes the directory and keeps the user id reserved when the namespaces cannot be closed', async () => {
    using sandbox = await openSandbox(() => Promise.reject(new Error('no such process')));
    expect(await sandbox.destroy()).toMatchObject({
      errors: [{ message: expect.stringContaining('control group') }, { message: 'no such process' }],
    });
    expect(sandbox.ends).toEqual([]);
    expect(sandbox.root.sandboxIds()).toEqual([]);
  });
});
