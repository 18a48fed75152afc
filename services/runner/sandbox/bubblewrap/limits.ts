import { availableParallelism, release, totalmem } from 'node:os';
import type { Controller } from '../cgroups/hierarchy.ts';
import type { LimitsInForce, SandboxLimits } from '../sandbox.ts';
import type { Rlimits } from './script.ts';

const MIB = 1024 * 1024;

/** What a sandbox may have when nobody says otherwise. */
export function defaults(): Required<{ [Name in keyof SandboxLimits]: number }> {
  return {
    cpuMillis: Math.min(2, availableParallelism()) * 1_000,
    memoryMib: Math.min(2_048, Math.floor(totalmem() / MIB / 2)),
    pids: 512,
    diskMib: 512,
  };
}

export interface Kept {
  wanted: Required<{ [Name in keyof SandboxLimits]: number }>;
  inForce: LimitsInForce;
  /** What each command limits itself to, where no control group does it. */
  rlimits: Rlimits;
}

/** By what each limit is kept, and which are not. */
export function keep(limits: SandboxLimits, groups: ReadonlySet<Controller>): Kept {
  const { cpuMillis, memoryMib, pids, diskMib } = defaults();
  const wanted = {
    cpuMillis: limits.cpuMillis ?? cpuMillis,
    memoryMib: limits.memoryMib ?? memoryMib,
    pids: limits.pids ?? pids,
    diskMib: limits.diskMib ?? diskMib,
  };
  const countsProcesses = countsByNamespace(release());
  const none = { value: null, enforcement: 'none' as const };
  const inForce: LimitsInForce = {
    cpuMillis: groups.has('cpu') ? { value: wanted.cpuMillis, enforcement: 'sandbox' } : none,
    memoryMib: { value: wanted.memoryMib, enforcement: groups.has('memory') ? 'sandbox' : 'process' },
    pids: groups.has('pids')
      ? { value: wanted.pids, enforcement: 'sandbox' }
      : countsProcesses
        ? { value: wanted.pids, enforcement: 'command' }
        : none,
    diskMib: { value: wanted.diskMib, enforcement: 'sandbox' },
  };
  const rlimits = {
    processes: !groups.has('pids') && countsProcesses ? wanted.pids : undefined,
    memoryMib: groups.has('memory') ? undefined : wanted.memoryMib,
  };
  return { wanted, inForce, rlimits };
}

/** Since Linux 5.14, the processes of a user are counted by user namespace: those of a command alone. */
function countsByNamespace(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
