import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../../../../lib/clock.ts';
import type { Ids } from '../../../../lib/ids.ts';
import type { Log } from '../../../../lib/log.ts';
import { openBranches } from '../cgroups/branches.ts';
import { readHierarchies } from '../cgroups/hierarchy.ts';
import type { Outside } from '../network/gate.ts';
import { Ground } from '../place.ts';
import type { SandboxProvider } from '../sandbox.ts';
import { filterFor } from '../seccomp/filter.ts';
import { findPrograms } from './programs.ts';
import { BubblewrapProvider, keepFilter } from './provider.ts';
import { readSystem } from './system.ts';
import { Uids } from './uids.ts';

export interface BubblewrapSettings {
  /** Of the service's own; nobody else may enter it. */
  directory: string;
  /** The first of the users that sandboxes have when this process is root. */
  firstUid: number;
  /** Directories of this machine that commands may read beside its system. */
  shown: readonly string[];
  /** What they may not, should it lie there. */
  hidden: readonly string[];
  clock: Clock;
  ids: Ids;
  log: Log;
  /** How a limited network reaches the outside. */
  outside: Outside;
}

export type Opened = { provider: SandboxProvider } | { reason: string };

/** The first that keeps user namespaces from being made inside. */
const OLDEST = [0, 8] as const;
const PROBE_MS = 10_000;
const ANSWER = 'it works';

/** Looks whether it works here, by having one command run, and says in words why it does not. */
export async function openBubblewrap(settings: BubblewrapSettings): Promise<Opened> {
  const { arch, platform } = process;
  if (platform !== 'linux') return { reason: 'it needs Linux' };
  if (arch !== 'x64' && arch !== 'arm64') return { reason: `it has no filter of system calls for ${arch}` };
  const programs = findPrograms();
  if ('missing' in programs) return { reason: `this machine lacks ${programs.missing}` };
  const old = await tooOld(programs.bwrap);
  if (old !== undefined) return { reason: old };
  const isRoot = process.getuid?.() === 0;
  const uids = isRoot ? new Uids(settings.firstUid) : undefined;
  if (uids && !uids.areThere)
    return {
      reason: `there are no users from ${settings.firstUid} on, and SERVICE_SANDBOX_FIRST_UID names no others`,
    };
  const { directory, shown, hidden, clock, ids, log, outside } = settings;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const ground = new Ground(join(directory, 'sandboxes'));
  const system = readSystem({ directory: join(directory, 'system'), shown, hidden });
  const filter = keepFilter(directory, filterFor(arch));
  const branches = openBranches(readHierarchies(), `ahs-${tagOf(directory)}`);
  const provider = new BubblewrapProvider({
    ground,
    clock,
    programs,
    system,
    filter,
    branches,
    outside,
    log,
    uids,
  });
  const problem = await probe(provider, ids);
  return problem === undefined ? { provider } : { reason: problem };
}

async function tooOld(bwrap: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(bwrap, ['--version'], { env: {} });
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
    if (major > OLDEST[0] || minor >= OLDEST[1]) return undefined;
    return `bubblewrap ${major}.${minor} is older than ${OLDEST.join('.')}`;
  } catch (error) {
    return `bubblewrap does not start: ${wordsOf(error)}`;
  }
}

async function probe(provider: SandboxProvider, ids: Ids): Promise<string | undefined> {
  const network = { mode: 'none', allowedHosts: [] } as const;
  const spec = { sandboxId: ids('sbx'), limits: {}, network, variables: {}, image: '' };
  try {
    const sandbox = await provider.create(spec);
    let said = '';
    const end = await sandbox.run({
      script: `echo ${ANSWER}`,
      workspaceId: ids('wsp'),
      timeoutMs: PROBE_MS,
      signal: new AbortController().signal,
      maxOutputBytes: 1_000,
      output: (bytes) => {
        said += Buffer.from(bytes).toString();
      },
    });
    await sandbox.destroy();
    return said === `${ANSWER}\n` ? undefined : `a command did not run in it (${end.cause ?? end.exitCode})`;
  } catch (error) {
    return wordsOf(error);
  }
}

/** Closed user namespaces are the most common reason, and bubblewrap has several words for them. */
const CLOSED = /namespace|uid map|setting up/i;

function wordsOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  const [words = ''] = String(cause instanceof Error ? cause.message : (cause ?? error)).split('\n');
  return CLOSED.test(words) ? `this machine does not let it make user namespaces (${words})` : words;
}

/** Two services on one machine do not know each other's groups. */
const tagOf = (directory: string): string =>
  createHash('sha256').update(directory).digest('hex').slice(0, 12);
