import { availableParallelism, release, totalmem } from 'node:os';
import type { LimitName } from '../../../../lib/sandboxes.ts';
import type { Controller } from '../../kernel/cgroups/hierarchy.ts';
import type { EffectiveLimits, SandboxLimits } from '../../sandbox/sandbox.ts';
import { type CopySpace, copyLimits } from '../space/space-limits.ts';
import type { Rlimits } from './shell-script.ts';

const MIB = 1024 * 1024;

type RequestedLimits = Required<{ [Name in keyof Omit<SandboxLimits, 'workspaceMib'>]: number }>;

/** How the limits of workspace copies are enforced. */
export const COPY_METHODS = {
  volume: 'loop file system',
  monitor: 'monitored by the runner',
} as const;
export type CopyMethod = keyof typeof COPY_METHODS;

/** The limits of a sandbox for which its environment sets none. */
function defaultLimits(): RequestedLimits {
  return {
    cpuMillis: Math.min(2, availableParallelism()) * 1_000,
    memoryMib: Math.min(2_048, Math.floor(totalmem() / MIB / 2)),
    pids: 512,
    diskMib: 512,
  };
}

interface ResolvedLimits {
  requested: RequestedLimits;
  effective: EffectiveLimits;
  /** Limits that each command sets for itself, because no control group enforces them. */
  rlimits: Rlimits;
}

/** Decides by which means each limit is enforced on this machine, and which limits are not enforced. */
export function resolveLimits(
  limits: SandboxLimits,
  controllers: ReadonlySet<Controller>,
  copies: { limit: CopySpace; method: CopyMethod },
): ResolvedLimits {
  const { cpuMillis, memoryMib, pids, diskMib } = defaultLimits();
  const requested = {
    cpuMillis: limits.cpuMillis ?? cpuMillis,
    memoryMib: limits.memoryMib ?? memoryMib,
    pids: limits.pids ?? pids,
    diskMib: limits.diskMib ?? diskMib,
  };
  const countsProcesses = countsProcessesByNamespace(release());
  const none = { value: null, enforcement: 'none' as const };
  const effective: EffectiveLimits = {
    cpuMillis: controllers.has('cpu') ? { value: requested.cpuMillis, enforcement: 'sandbox' } : none,
    memoryMib: {
      value: requested.memoryMib,
      enforcement: controllers.has('memory') ? 'sandbox' : 'process',
    },
    pids: controllers.has('pids')
      ? { value: requested.pids, enforcement: 'sandbox' }
      : countsProcesses
        ? { value: requested.pids, enforcement: 'command' }
        : none,
    diskMib: { value: requested.diskMib, enforcement: 'sandbox', method: 'memory file system' },
    ...copyLimits(copies.limit, COPY_METHODS[copies.method]),
  };
  const rlimits = {
    processes: !controllers.has('pids') && countsProcesses ? requested.pids : undefined,
    memoryMib: controllers.has('memory') ? undefined : requested.memoryMib,
  };
  return { requested, effective, rlimits };
}

/** Returns the limits that nothing enforces with these controllers. */
export function unenforcedLimits(controllers: ReadonlySet<Controller>): LimitName[] {
  const missing: LimitName[] = controllers.has('cpu') ? [] : ['cpu_millis'];
  const countsProcesses = controllers.has('pids') || countsProcessesByNamespace(release());
  return countsProcesses ? missing : [...missing, 'pids'];
}

/** Since Linux 5.14, RLIMIT_NPROC counts the processes of a user per user namespace, and each command has its own. */
function countsProcessesByNamespace(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
