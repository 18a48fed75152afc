import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { url as inspectorUrl } from 'node:inspector';
import { promisify } from 'node:util';
import type { SettingProblem } from '../../lib/env.ts';
import { type ModuleName, modulesOf, type Target } from './target.ts';

/** The modules whose memory contains secrets of users in clear. */
const SECRET_MODULES: readonly ModuleName[] = ['runner', 'vaults', 'channels'];
/** The options of Node that write the memory of JavaScript to a file. */
const SNAPSHOT_OPTIONS = new Set(['--heapsnapshot-signal', '--heapsnapshot-near-heap-limit']);

/** Whether a process of this target keeps secrets of users in memory. */
export function holdsSecrets(target: Target): boolean {
  return modulesOf(target).some((name) => SECRET_MODULES.includes(name));
}

/**
 * Returns a problem for each way to write a heap snapshot of this process. The inspector, which can do so, is refused in team
 * mode only, where the secrets belong to other users.
 */
export function snapshotProblems(
  { execArgv, nodeOptions = '' }: { execArgv: readonly string[]; nodeOptions?: string | undefined },
  isTeam: boolean,
): SettingProblem[] {
  const options = (variable: string, words: readonly string[]) =>
    words
      .map((word) => word.replace(/=.*/, '').replaceAll('_', '-'))
      .filter((option) => SNAPSHOT_OPTIONS.has(option))
      .map((option) => problem(variable, `contains ${option}`));
  return [
    ...options('The command line of node', execArgv),
    ...options('NODE_OPTIONS', nodeOptions.split(/[\s"]+/)),
    ...(isTeam && inspectorUrl() !== undefined
      ? [problem('The inspector of Node', 'is open in team mode')]
      : []),
  ];
}

function problem(variable: string, text: string): SettingProblem {
  return {
    variable,
    problem: `${text}, and snapshots of this process contain secrets of vaults`,
    expected: 'no option that writes heap snapshots, and no --inspect in team mode',
    fix: 'remove the option; other targets than all, runner and vaults accept it',
  };
}

/**
 * Disables core dumps of this process and of its later children, without privileges. Returns a warning when this fails. With
 * a limit of exactly one byte, the kernel also passes no dump to a handler. Sandboxes set the same limit for commands; without
 * privileges they could not raise a limit of zero to it. The dump filter leaves out all memory, too.
 */
export async function disableCoreDumps(): Promise<string | undefined> {
  const isFiltered = excludeMemoryFromCoreDumps();
  const isLimited = await setCoreLimit();
  if (isFiltered || isLimited || process.platform === 'darwin') return undefined;
  return 'Core dumps cannot be disabled, and contain secrets of vaults. Start the process with prlimit --core=1:1.';
}

/** See core(5). */
function excludeMemoryFromCoreDumps(): boolean {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
    return true;
  } catch {
    return false;
  }
}

/** Node has no setrlimit. */
async function setCoreLimit(): Promise<boolean> {
  try {
    await promisify(execFile)('prlimit', ['--core=1:1', '--pid', String(process.pid)]);
    return true;
  } catch {
    return false;
  }
}
