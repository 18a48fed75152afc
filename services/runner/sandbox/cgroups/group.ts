import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, wait } from '../../../../lib/clock.ts';
import { Process } from '../bubblewrap/processes.ts';
import type { Controller } from './hierarchy.ts';

/** A directory in which groups can be made, each with these limits. */
export interface Branch {
  version: 1 | 2;
  path: string;
  controllers: readonly Controller[];
}

export interface GroupLimits {
  memoryMib: number;
  pids: number;
  /** Null for as much as there is. */
  cpuMillis: number | null;
}

const MIB = 1024 * 1024;
const PERIOD_US = 100_000;
/** The process that stands above a command counts, too. */
const OWN_PROCESSES = 1;
const PAUSE_MS = 5;
const PATIENCE = 200;

/** One sandbox in all trees of control groups: what its processes may use together. */
export class ControlGroup {
  readonly #directories: { branch: Branch; path: string }[];
  readonly #clock: Clock;

  private constructor(directories: { branch: Branch; path: string }[], clock: Clock) {
    this.#directories = directories;
    this.#clock = clock;
  }

  /** Makes it, or finds it again. */
  static make(branches: readonly Branch[], name: string, limits: GroupLimits, clock: Clock): ControlGroup {
    const directories = branches.map((branch) => ({ branch, path: join(branch.path, name) }));
    for (const { branch, path } of directories) {
      openBranch(branch);
      mkdirSync(path, { recursive: true });
      for (const [file, value] of settings(branch, limits)) writeFileSync(join(path, file), value);
      if (branch.controllers.includes('memory')) forbidSwap(branch, path, limits.memoryMib);
    }
    return new ControlGroup(directories, clock);
  }

  static find(branches: readonly Branch[], name: string, clock: Clock): ControlGroup {
    const directories = branches.map((branch) => ({ branch, path: join(branch.path, name) }));
    return new ControlGroup(directories, clock);
  }

  enter(pid: number): void {
    for (const { path } of this.#directories) writeFileSync(join(path, 'cgroup.procs'), `${pid}`);
  }

  killed(): number {
    for (const { branch, path } of this.#directories) {
      if (!branch.controllers.includes('memory')) continue;
      const events = read(join(path, branch.version === 1 ? 'memory.oom_control' : 'memory.events'));
      return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
    }
    return 0;
  }

  /** Ends what is still in it. */
  async remove(): Promise<void> {
    for (let tries = 0; tries < PATIENCE; tries++) {
      for (const { path } of this.#directories) for (const pid of processesIn(path)) Process.find(pid)?.end();
      const left = this.#directories.filter(({ path }) => !removed(path));
      if (left.length === 0) {
        // The last one closes the branch.
        for (const { branch } of this.#directories) removed(branch.path);
        return;
      }
      await wait(this.#clock, PAUSE_MS);
    }
    throw new Error('a control group cannot be removed');
  }
}

/** It is not there as long as there is no group in it. */
export function openBranch({ version, path, controllers }: Branch): void {
  mkdirSync(path, { recursive: true });
  if (version === 2)
    for (const one of controllers) writeFileSync(join(path, 'cgroup.subtree_control'), `+${one}`);
}

/** Names of the groups in a branch. */
export function groupsIn({ path }: Branch): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );
}

function settings(
  { version, controllers }: Branch,
  { memoryMib, pids, cpuMillis }: GroupLimits,
): [string, string][] {
  const all: [string, string][] = [];
  const memory = String(memoryMib * MIB);
  if (controllers.includes('memory'))
    all.push([version === 1 ? 'memory.limit_in_bytes' : 'memory.max', memory]);
  if (controllers.includes('pids')) all.push(['pids.max', String(pids + OWN_PROCESSES)]);
  if (!controllers.includes('cpu')) return all;
  const quota = cpuMillis === null ? undefined : Math.round((cpuMillis * PERIOD_US) / 1_000);
  if (version === 2) all.push(['cpu.max', `${quota ?? 'max'} ${PERIOD_US}`]);
  else all.push(['cpu.cfs_period_us', String(PERIOD_US)], ['cpu.cfs_quota_us', String(quota ?? -1)]);
  return all;
}

/** Memory on the disk is no way out; a kernel without swap has no such file. */
function forbidSwap({ version }: Branch, path: string, memoryMib: number): void {
  const [file, value] =
    version === 1 ? ['memory.memsw.limit_in_bytes', String(memoryMib * MIB)] : ['memory.swap.max', '0'];
  try {
    writeFileSync(join(path, file), value);
  } catch {
    // There is nothing to forbid.
  }
}

function processesIn(path: string): number[] {
  return read(join(path, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
}

function removed(path: string): boolean {
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
