/** What a process runs: every module, or one. */
export const MODULES = ['auth', 'agents', 'sessions', 'deployments', 'runner', 'edge'] as const;
export type ModuleName = (typeof MODULES)[number];
export type Target = 'all' | ModuleName;

/** The services that answer calls, and whom each module asks. */
export type ServiceName = 'auth' | 'agents' | 'sessions' | 'deployments';

export const ASKS: Record<ModuleName, readonly ServiceName[]> = {
  auth: [],
  agents: [],
  sessions: ['agents'],
  deployments: ['agents', 'sessions', 'auth'],
  runner: ['sessions', 'agents'],
  edge: ['auth', 'agents', 'sessions', 'deployments'],
};

/** Modules that keep something in the database. */
export const KEEPERS: readonly ModuleName[] = ['auth', 'agents', 'sessions', 'deployments'];

export function modulesOf(target: Target): readonly ModuleName[] {
  return target === 'all' ? MODULES : [target];
}

/** Reads `--target=…` or `--target …`; undefined when it names none. */
export function targetIn(args: readonly string[]): Target | undefined {
  const index = args.findIndex((arg) => arg === '--target' || arg.startsWith('--target='));
  if (index < 0) return 'all';
  const arg = args[index] ?? '';
  const name = arg === '--target' ? args[index + 1] : arg.slice('--target='.length);
  return name === 'all' ? name : MODULES.find((module) => module === name);
}
