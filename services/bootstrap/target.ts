import type { SettingProblem } from '../../lib/env.ts';

/** The modules. A process runs all of them or one. */
export const MODULES = [
  'auth',
  'agents',
  'sessions',
  'files',
  'deployments',
  'vaults',
  'runner',
  'channels',
  'edge',
] as const;
export type ModuleName = (typeof MODULES)[number];
export type Target = 'all' | ModuleName;

/** The modules with a gRPC service. */
export type ServiceName = 'auth' | 'agents' | 'sessions' | 'files' | 'deployments' | 'vaults';

/** The services that each module calls. */
export const SERVICES_CALLED_BY: Record<ModuleName, readonly ServiceName[]> = {
  auth: [],
  agents: ['files', 'auth', 'vaults'],
  sessions: ['agents', 'files', 'auth'],
  files: ['sessions', 'agents'],
  deployments: ['agents', 'sessions', 'auth'],
  vaults: ['agents', 'auth', 'sessions'],
  runner: ['sessions', 'agents', 'files', 'vaults'],
  channels: ['deployments', 'sessions', 'files'],
  edge: ['auth', 'agents', 'sessions', 'files', 'deployments', 'vaults'],
};

/**
 * Without these services, the other targets are degraded and stay ready: conversations without files and credentials work.
 */
export const OPTIONAL_SERVICES: ReadonlySet<ServiceName> = new Set(['files', 'vaults']);

/** The modules with a database schema. */
export const DATABASE_MODULES: readonly ModuleName[] = [
  'auth',
  'agents',
  'sessions',
  'files',
  'deployments',
  'vaults',
];

export function modulesOf(target: Target): readonly ModuleName[] {
  return target === 'all' ? MODULES : [target];
}

/** Parses `--target=…` or `--target …`. Adds other arguments to `problems`. Returns undefined for an unknown module. */
export function readTarget(args: readonly string[], problems: SettingProblem[]): Target | undefined {
  let target: Target | undefined = 'all';
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (arg !== '--target' && !arg.startsWith('--target=')) {
      problems.push({
        variable: arg,
        problem: 'is not an option',
        expected: EXPECTED_OPTION,
        fix: 'remove it',
      });
      continue;
    }
    const name = arg === '--target' ? args[++index] : arg.slice('--target='.length);
    target = name === 'all' ? name : MODULES.find((module) => module === name);
    if (target) continue;
    const problem = name ? `("${name}") names no module` : 'names no module';
    problems.push({ variable: '--target', problem, expected: EXPECTED_OPTION, fix: 'use one of these' });
  }
  return target;
}

const EXPECTED_OPTION = `no option, or --target= with one of all, ${MODULES.join(', ')}`;
