import type { SettingProblem } from '../../lib/env.ts';

/** What a process runs: every module, or one. */
export const MODULES = ['auth', 'agents', 'sessions', 'files', 'deployments', 'runner', 'edge'] as const;
export type ModuleName = (typeof MODULES)[number];
export type Target = 'all' | ModuleName;

/** The services that answer calls, and whom each module asks. */
export type ServiceName = 'auth' | 'agents' | 'sessions' | 'files' | 'deployments';

export const ASKS: Record<ModuleName, readonly ServiceName[]> = {
  auth: [],
  agents: ['files', 'auth'],
  sessions: ['agents', 'files', 'auth'],
  files: ['sessions', 'agents'],
  deployments: ['agents', 'sessions', 'auth'],
  runner: ['sessions', 'agents', 'files'],
  edge: ['auth', 'agents', 'sessions', 'files', 'deployments'],
};

/** Modules that keep something in the database. */
export const KEEPERS: readonly ModuleName[] = ['auth', 'agents', 'sessions', 'files', 'deployments'];

export function modulesOf(target: Target): readonly ModuleName[] {
  return target === 'all' ? MODULES : [target];
}

/** Reads `--target=…` or `--target …`. Adds to `problems` whatever else stands there; undefined when it names no module. */
export function readTarget(args: readonly string[], problems: SettingProblem[]): Target | undefined {
  let target: Target | undefined = 'all';
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (arg !== '--target' && !arg.startsWith('--target=')) {
      problems.push({ variable: arg, problem: 'is not an option', expected: OPTION, fix: 'leave it out' });
      continue;
    }
    const name = arg === '--target' ? args[++index] : arg.slice('--target='.length);
    target = name === 'all' ? name : MODULES.find((module) => module === name);
    if (target) continue;
    const problem = name ? `("${name}") names no module` : 'names no module';
    problems.push({ variable: '--target', problem, expected: OPTION, fix: 'name one of these' });
  }
  return target;
}

const OPTION = `nothing, or --target= and one of all, ${MODULES.join(', ')}`;
