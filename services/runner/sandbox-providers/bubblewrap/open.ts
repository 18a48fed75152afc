import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../../../../lib/clock.ts';
import type { Ids } from '../../../../lib/ids.ts';
import type { Log } from '../../../../lib/log.ts';
import type { Dialer } from '../../../../lib/outbound/dialer.ts';
import { readHierarchies } from '../../kernel/cgroups/hierarchy.ts';
import { openParentGroups } from '../../kernel/cgroups/parent-groups.ts';
import { seccompFilter } from '../../kernel/seccomp/filter.ts';
import type { EgressMetrics } from '../../network/intercept/egress-metrics.ts';
import type { SandboxProvider } from '../../sandbox/sandbox.ts';
import { SandboxRoot } from '../sandbox-root.ts';
import type { SpaceLimits } from '../space/space-limits.ts';
import type { SpaceMonitor } from '../space/space-monitor.ts';
import { COPY_METHODS } from './limits.ts';
import { findPrograms, findVolumePrograms, type Programs } from './programs.ts';
import { createBubblewrapProvider, writeFilter } from './provider.ts';
import { createSystemMounts } from './system-mounts.ts';
import { UidPool } from './uid-pool.ts';
import { Volumes } from './volumes.ts';

interface BubblewrapSettings {
  /** A directory that only the service may enter. */
  directory: string;
  /** The directory with the copies of skills of this runner. */
  skillDirectory: string;
  /** The first of the user ids for sandboxes, when this process is root. */
  firstUid: number;
  /** Directories of this machine that commands may read, in addition to its system directories. */
  readableDirectories: readonly string[];
  /** Paths that commands must not see, even below a readable directory. */
  hiddenPaths: readonly string[];
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Opens the connections of limited networks. */
  dialer: Dialer;
  egressMetrics: EgressMetrics;
  limits: SpaceLimits;
  monitor: SpaceMonitor;
}

type BubblewrapProbe =
  /** `copies` states how the limits of workspace copies are enforced. */
  { provider: SandboxProvider; copies: string; close(): void } | { reason: string };

/** The first version with --disable-userns, which prevents further user namespaces inside a sandbox. */
const MINIMUM_VERSION = [0, 8] as const;
const PROBE_TIMEOUT_MS = 10_000;
const PROBE_TEXT = 'it works';

/** Returns the provider if a test command succeeds in it, or else the reason in words, in lower case. */
export async function openBubblewrap(settings: BubblewrapSettings): Promise<BubblewrapProbe> {
  const { arch, platform } = process;
  if (platform !== 'linux') return { reason: 'it needs Linux' };
  if (arch !== 'x64' && arch !== 'arm64') return { reason: `it has no seccomp filter for ${arch}` };
  const programs = findPrograms();
  if ('missing' in programs) return { reason: `this machine lacks ${programs.missing}` };
  const reason = await versionProblem(programs.bwrap);
  if (reason !== undefined) return { reason };
  const isRoot = process.getuid?.() === 0;
  const uidPool = isRoot ? new UidPool(settings.firstUid) : undefined;
  if (uidPool && !uidPool.isMapped)
    return {
      reason: `the user ids from ${settings.firstUid} on do not exist; set SERVICE_SANDBOX_FIRST_UID to an existing range`,
    };
  const { directory, readableDirectories, hiddenPaths, clock, ids, log, dialer } = settings;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'sandboxes');
  const { volumes, reason: withoutVolumes } = await openVolumes(path, programs, isRoot);
  const provider = createBubblewrapProvider({
    root: new SandboxRoot({ path, clock, limits: settings.limits, monitor: settings.monitor, volumes }),
    skillDirectory: settings.skillDirectory,
    volumes,
    clock,
    programs,
    systemMounts: createSystemMounts({
      directory: join(directory, 'system'),
      readableDirectories,
      hiddenPaths,
    }),
    filterPath: writeFilter(directory, seccompFilter(arch, { mayReserveSpace: volumes !== undefined })),
    parentGroups: openParentGroups(readHierarchies(), `ahs-${hashOf(directory)}`),
    dialer,
    egressMetrics: settings.egressMetrics,
    log,
    uidPool,
  });
  const problem = await probe(provider, ids);
  const close = () => volumes?.[Symbol.dispose]();
  if (problem !== undefined) {
    close();
    return { reason: problem };
  }
  const copies = volumes ? COPY_METHODS.volume : `${COPY_METHODS.monitor} (${withoutVolumes})`;
  return { provider, copies, close };
}

/** Returns volumes when this machine can mount them, or else the reason in words. */
async function openVolumes(
  directory: string,
  programs: Programs,
  isRoot: boolean,
): Promise<{ volumes?: Volumes; reason?: string }> {
  if (!isRoot) return { reason: 'a loop file system needs root' };
  const found = findVolumePrograms();
  if ('missing' in found) return { reason: `a loop file system needs ${found.missing}` };
  try {
    const volumes = await Volumes.open({ directory, programs: { ...programs, ...found } });
    try {
      await volumes.probe();
      return { volumes };
    } catch (error) {
      volumes[Symbol.dispose]();
      throw error;
    }
  } catch (error) {
    return {
      reason: `a loop file system cannot be mounted: ${error instanceof Error ? error.message : error}`,
    };
  }
}

async function versionProblem(bwrap: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(bwrap, ['--version'], { env: {} });
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
    if (major > MINIMUM_VERSION[0] || minor >= MINIMUM_VERSION[1]) return undefined;
    return `bubblewrap ${major}.${minor} is older than ${MINIMUM_VERSION.join('.')}`;
  } catch (error) {
    return `bubblewrap failed to start: ${reasonOf(error)}`;
  }
}

async function probe(provider: SandboxProvider, ids: Ids): Promise<string | undefined> {
  const network = { mode: 'none', allowedHosts: [] } as const;
  const spec = { sandboxId: ids('sbx'), limits: {}, network, variables: {}, image: '' };
  try {
    const sandbox = await provider.create(spec);
    let stdout = '';
    const result = await sandbox.run({
      script: `echo ${PROBE_TEXT}`,
      workspaceId: ids('wsp'),
      timeoutMs: PROBE_TIMEOUT_MS,
      signal: new AbortController().signal,
      maxOutputBytes: 1_000,
      output: (bytes) => {
        stdout += Buffer.from(bytes).toString();
      },
    });
    await sandbox.destroy();
    return stdout === `${PROBE_TEXT}\n`
      ? undefined
      : `a test command failed (${result.cause ?? result.exitCode})`;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Disabled user namespaces are the most common reason. bubblewrap has several messages for them. */
const USER_NAMESPACE_ERROR = /namespace|uid map|setting up/i;

function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  const [message = ''] = String(cause instanceof Error ? cause.message : (cause ?? error)).split('\n');
  return USER_NAMESPACE_ERROR.test(message)
    ? `this machine does not allow user namespaces (${message})`
    : message;
}

/** Distinguishes the control groups of several services on one machine. */
const hashOf = (directory: string): string =>
  createHash('sha256').update(directory).digest('hex').slice(0, 12);
