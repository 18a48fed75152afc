import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, wait } from '../../../../lib/clock.ts';
import { OperatingSystemError } from '../operating-system-error.ts';
import { ProcessHandle } from '../processes.ts';
import type { Controller } from './hierarchy.ts';

/** A directory in which groups can be created that enforce the limits of these controllers. */
export interface ParentGroup {
  version: 1 | 2;
  path: string;
  controllers: readonly Controller[];
}

interface GroupLimits {
  memoryMib: number;
  pids: number;
  /** Thousandths of a processor; null for no limit. */
  cpuMillis: number | null;
}

const MIB = 1024 * 1024;
const PERIOD_US = 100_000;
/** nsenter and bubblewrap's two processes, of which one is in the namespace of the command, count towards the limit. */
const OWN_PROCESSES = 3;
/** Arguments: the files that receive the process id (0 is the process itself), `--`, and the program with its arguments. */
const JOIN = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit; shift; done; shift; exec -- "$@"';
const RETRY_INTERVAL_MS = 5;
const MAX_ATTEMPTS = 200;

interface GroupDirectory {
  parent: ParentGroup;
  path: string;
}

/** The control groups of one sandbox in all hierarchies: they limit its processes together. */
export class ControlGroup {
  readonly #directories: GroupDirectory[];
  readonly #clock: Clock;

  private constructor(directories: GroupDirectory[], clock: Clock) {
    this.#directories = directories;
    this.#clock = clock;
  }

  /** Creates the groups, or updates the limits of existing ones. */
  static create(
    parents: readonly ParentGroup[],
    name: string,
    limits: GroupLimits,
    clock: Clock,
  ): ControlGroup {
    const group = ControlGroup.find(parents, name, clock);
    for (const { parent, path } of group.#directories) {
      ensureParentGroup(parent);
      mkdirSync(path, { recursive: true });
      for (const [file, value] of limitFiles(parent, limits)) writeFileSync(join(path, file), value);
      if (parent.controllers.includes('memory')) disableSwap(parent, path, limits.memoryMib);
    }
    return group;
  }

  /** Returns a handle of the groups with this name, which may not exist. */
  static find(parents: readonly ParentGroup[], name: string, clock: Clock): ControlGroup {
    const directories = parents.map((parent) => ({ parent, path: join(parent.path, name) }));
    return new ControlGroup(directories, clock);
  }

  /**
   * Returns a program and arguments that join the groups and then become the program that is appended. To move another
   * process, the kernel first waits until no process is forking, which takes 7 to 13 ms. In version 1, it does not for a
   * thread that moves itself.
   */
  joinArguments(bash: string): [program: string, ...args: string[]] {
    const files = this.#directories.map(({ parent, path }) =>
      join(path, parent.version === 1 ? 'tasks' : 'cgroup.procs'),
    );
    return [bash, '--norc', '-c', JOIN, 'bash', ...files, '--'];
  }

  /** Returns how many processes the kernel has killed because the group exceeded its memory limit. */
  oomKillCount(): number {
    for (const { parent, path } of this.#directories) {
      if (!parent.controllers.includes('memory')) continue;
      const events = read(join(path, parent.version === 1 ? 'memory.oom_control' : 'memory.events'));
      return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
    }
    return 0;
  }

  /**
   * Kills the processes in the groups, then removes the groups. Rejects with an OperatingSystemError when a group still
   * exists after one second.
   */
  async remove(): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      for (const { path } of this.#directories)
        for (const pid of processesIn(path)) ProcessHandle.find(pid)?.kill();
      const remaining = this.#directories.filter(({ path }) => !tryRemove(path));
      if (remaining.length === 0) {
        // Succeeds only when this was the last group in it.
        for (const { parent } of this.#directories) tryRemove(parent.path);
        return;
      }
      await wait(this.#clock, RETRY_INTERVAL_MS);
    }
    throw new OperatingSystemError('The control group could not be removed within one second.');
  }
}

/** Creates the parent group, which is removed together with the last group in it. */
function ensureParentGroup({ version, path, controllers }: ParentGroup): void {
  mkdirSync(path, { recursive: true });
  if (version === 2)
    for (const one of controllers) writeFileSync(join(path, 'cgroup.subtree_control'), `+${one}`);
}

/** Returns the names of the groups in a parent group. */
export function childGroupNames({ path }: ParentGroup): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );
}

function limitFiles(
  { version, controllers }: ParentGroup,
  { memoryMib, pids, cpuMillis }: GroupLimits,
): [string, string][] {
  const files: [string, string][] = [];
  const memory = String(memoryMib * MIB);
  if (controllers.includes('memory'))
    files.push([version === 1 ? 'memory.limit_in_bytes' : 'memory.max', memory]);
  if (controllers.includes('pids')) files.push(['pids.max', String(pids + OWN_PROCESSES)]);
  if (!controllers.includes('cpu')) return files;
  const quota = cpuMillis === null ? undefined : Math.round((cpuMillis * PERIOD_US) / 1_000);
  if (version === 2) files.push(['cpu.max', `${quota ?? 'max'} ${PERIOD_US}`]);
  else files.push(['cpu.cfs_period_us', String(PERIOD_US)], ['cpu.cfs_quota_us', String(quota ?? -1)]);
  return files;
}

/** Without this, swap space would add to the memory limit. Kernels without swap accounting have no such file. */
function disableSwap({ version }: ParentGroup, path: string, memoryMib: number): void {
  const [file, value] =
    version === 1 ? ['memory.memsw.limit_in_bytes', String(memoryMib * MIB)] : ['memory.swap.max', '0'];
  try {
    writeFileSync(join(path, file), value);
  } catch {
    // The kernel has no swap accounting.
  }
}

function processesIn(path: string): number[] {
  return read(join(path, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
}

/** Returns whether the group no longer exists. */
function tryRemove(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
