import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { refuse } from '../../../../lib/errors.ts';
import type { Log } from '../../../../lib/log.ts';
import type { Dialer } from '../../../../lib/outbound/dialer.ts';
import { ControlGroup, childGroupNames, type ParentGroup } from '../../kernel/cgroups/control-group.ts';
import { enforcedControllers } from '../../kernel/cgroups/parent-groups.ts';
import { openLimitedNetwork } from '../../kernel/network/limited-network.ts';
import { PROXY_VARIABLES } from '../../kernel/network/listen-in-namespace.ts';
import type { EgressMetrics } from '../../network/intercept/egress-metrics.ts';
import { TlsInterceptor } from '../../network/intercept/interceptor.ts';
import { systemRoots, trusting } from '../../network/intercept/system-roots.ts';
import type { Sandbox, SandboxProvider, SandboxSpec } from '../../sandbox/sandbox.ts';
import { isSandboxError } from '../../sandbox/sandbox-error.ts';
import type { Ownership } from '../directory/write-file.ts';
import type { SandboxDirectory } from '../sandbox-directory.ts';
import type { SandboxRoot } from '../sandbox-root.ts';
import { resolveLimits, unenforcedLimits } from './limits.ts';
import { NamespaceSet } from './namespace-set.ts';
import type { Programs } from './programs.ts';
import { BubblewrapSandbox, type OpenNamespaces } from './sandbox.ts';
import type { SystemMounts } from './system-mounts.ts';
import type { UidPool } from './uid-pool.ts';
import type { Volumes } from './volumes.ts';

interface BubblewrapProviderOptions {
  root: SandboxRoot;
  /** The directory with the copies of skills of this runner. */
  skillDirectory: string;
  clock: Clock;
  programs: Programs;
  systemMounts: SystemMounts;
  /** The file with the seccomp filter. */
  filterPath: string;
  /** Where control groups can be created; empty when none can. */
  parentGroups: readonly ParentGroup[];
  dialer: Dialer;
  egressMetrics: EgressMetrics;
  log: Log;
  /** Set when this process is root. Otherwise all sandboxes belong to the user of this process. */
  uidPool: UidPool | undefined;
  /** Undefined when copies are plain directories, whose limits the runner monitors. */
  volumes: Volumes | undefined;
}

const MIB = 1024 * 1024;
/** Shared by all sandboxes. */
const roots = trusting(systemRoots);

/** Creates sandboxes whose commands are programs of this machine, confined by bubblewrap. */
export function createBubblewrapProvider(options: BubblewrapProviderOptions): SandboxProvider {
  const { root, uidPool, parentGroups, log } = options;
  return {
    name: 'bubblewrap',
    unenforcedLimits: unenforcedLimits(enforcedControllers(parentGroups)),
    async create(spec) {
      const { sandboxId } = spec;
      const cleanup = new AsyncDisposableStack();
      try {
        const owner = uidPool?.allocate();
        if (owner) cleanup.defer(() => uidPool?.release(owner));
        const { workspaceMib } = spec.limits;
        const directory = root.create(sandboxId, { owner, workspaceMib });
        cleanup.defer(() => root.remove(sandboxId));
        cleanup.defer(() => removeControlGroup(sandboxId, options));
        const sandbox = await openSandbox(spec, directory, owner, options);
        cleanup.move();
        return sandbox;
      } catch (error) {
        await cleanup.disposeAsync().catch((failure: unknown) => {
          const fields = { err: failure, sandbox_id: sandboxId };
          log.warn(fields, 'a sandbox that failed to start was not removed');
        });
        if (!isSandboxError(error)) throw error;
        throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox could not be created on this runner.', {
          cause: error,
        });
      }
    },
    async sweep() {
      const sandboxIds = new Set([...root.sandboxIds(), ...parentGroups.flatMap(childGroupNames)]);
      for (const sandboxId of sandboxIds) await removeControlGroup(sandboxId, options);
      await root.sweep();
    },
  };
}

async function openSandbox(
  spec: SandboxSpec,
  directory: SandboxDirectory,
  owner: Ownership | undefined,
  options: BubblewrapProviderOptions,
): Promise<Sandbox> {
  const { parentGroups, clock, programs, systemMounts, uidPool, volumes, skillDirectory } = options;
  const { sandboxId } = spec;
  const { requested, effective, rlimits } = resolveLimits(spec.limits, enforcedControllers(parentGroups), {
    limit: directory.limit,
    method: volumes ? 'volume' : 'monitor',
  });
  if (owner) chownSync(directory.home, owner.uid, owner.gid);
  const hasNetwork = spec.network.mode !== 'none';
  const scratchBytes = requested.diskMib * MIB;
  const { workspaces } = directory;
  const enterVolumes = volumes?.enterArguments ?? [];
  const paths = { systemMounts, workspaces, skillDirectory, enterVolumes };
  const setOptions = { ...paths, clock, programs, sandboxId, scratchBytes, owner };
  const { egressMetrics: metrics, log } = options;
  const interceptor = hasNetwork ? new TlsInterceptor({ clock, log, metrics, roots }) : undefined;
  const openNamespaces = async (): Promise<OpenNamespaces> => {
    await using opening = new AsyncDisposableStack();
    const namespaces = opening.use(await NamespaceSet.open({ ...setOptions, hasNetwork }));
    if (hasNetwork) opening.use(await openNetwork(spec, namespaces, interceptor, options));
    const opened = opening.move();
    return { namespaces, close: () => opened.disposeAsync() };
  };
  const group =
    parentGroups.length > 0 ? ControlGroup.create(parentGroups, sandboxId, requested, clock) : undefined;
  const sandbox = new BubblewrapSandbox({
    ...options,
    spec,
    directory,
    openNamespaces,
    group,
    rlimits,
    effectiveLimits: effective,
    networkVariables: hasNetwork ? PROXY_VARIABLES : {},
    interceptor,
    onEnd() {
      if (owner) uidPool?.release(owner);
    },
  });
  await sandbox.resume();
  return sandbox;
}

async function openNetwork(
  { sandboxId, network }: SandboxSpec,
  namespaces: NamespaceSet,
  interceptor: TlsInterceptor | undefined,
  options: BubblewrapProviderOptions,
): Promise<Disposable> {
  const { clock, dialer, log } = options;
  const { mode, allowedHosts } = network;
  if (mode !== 'limited') throw new Error(`Unknown network mode ${mode}.`);
  return openLimitedNetwork({
    enterArguments: namespaces.enterNetworkArguments,
    allowedHosts,
    dialer,
    clock,
    interceptor,
    onRefusal: (host, port, reason) =>
      log.info({ sandbox_id: sandboxId, host, port, reason }, 'network access of a sandbox refused'),
  });
}

/** The kernel ends the commands of a runner that was killed, but its control groups remain. */
async function removeControlGroup(
  sandboxId: string,
  { parentGroups, clock }: BubblewrapProviderOptions,
): Promise<void> {
  await ControlGroup.find(parentGroups, sandboxId, clock).remove();
}

/** Writes the seccomp filter to a file, which each command reads. Returns its path. */
export function writeFilter(directory: string, filter: Uint8Array): string {
  const path = join(directory, 'filter');
  writeFileSync(path, filter, { mode: 0o600 });
  return path;
}
