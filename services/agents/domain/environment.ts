import { type Refusal, refuse } from '../../../lib/errors.ts';

/** What every command of a sandbox runs under. A version is one of these, numbered. */
export interface Spec {
  sandbox: SandboxSpec;
  network: NetworkSpec;
  /** session | agent */
  tenancy: string;
  idle: IdleSpec;
  /** Environment variables of every command. */
  variables: Record<string, string>;
}

/** Absent limits are those of the provider. */
export interface SandboxSpec {
  /** auto, or a name of lib/sandboxes.ts. */
  provider: string;
  /** Empty for none. */
  image: string;
  cpuMillis?: number | undefined;
  memoryMib?: number | undefined;
  pids?: number | undefined;
  diskMib?: number | undefined;
  commandTimeoutSeconds: number;
}

export interface NetworkSpec {
  /** none | limited | unrestricted */
  mode: string;
  /** Of limited. */
  allowedHosts: string[];
}

export interface IdleSpec {
  timeoutSeconds: number;
  /** suspend | release */
  action: string;
}

/** What an administrator says about an environment. */
export interface EnvironmentForm extends Spec {
  name: string;
  enabled: boolean;
}

export type EnvironmentPatch = Partial<Omit<EnvironmentForm, 'name'>>;

export interface Environment {
  /** env_… */
  environmentId: string;
  name: string;
  spec: Spec;
  enabled: boolean;
  /** 1, 2, 3 …: the newest version, whose spec this is. */
  version: number;
  isDefault: boolean;
  /** usr_…; empty for the one that was there from the beginning. */
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What an environment was. It never changes. */
export interface EnvironmentVersion {
  environmentId: string;
  version: number;
  spec: Spec;
  enabled: boolean;
  /** usr_…: who has made it. */
  createdBy: string;
  createdAt: Date;
}

/** The environment of agents that name none. It is the same one everywhere, and is made with the tables. */
export const DEFAULT_ENVIRONMENT = 'env_00000000000000000000000000';

export function newEnvironment(
  { name, enabled, ...spec }: EnvironmentForm,
  environmentId: string,
  createdBy: string,
  now: Date,
): Environment {
  return {
    environmentId,
    name,
    spec,
    enabled,
    version: 1,
    isDefault: false,
    createdBy,
    createdAt: now,
    updatedAt: now,
  };
}

/** The environment after a change: of a new version when anything differs, and the very same when nothing does. */
export function changedEnvironment(before: Environment, patch: EnvironmentPatch, now: Date): Environment {
  const enabled = patch.enabled ?? before.enabled;
  const spec: Spec = {
    sandbox: patch.sandbox ?? before.spec.sandbox,
    network: patch.network ?? before.spec.network,
    tenancy: patch.tenancy ?? before.spec.tenancy,
    idle: patch.idle ?? before.spec.idle,
    variables: patch.variables ?? before.spec.variables,
  };
  if (enabled === before.enabled && fingerprint(spec) === fingerprint(before.spec)) return before;
  return { ...before, spec, enabled, version: before.version + 1, updatedAt: now };
}

/** Refuses to delete what somebody still needs. `users` is how many agents and assistants name it. */
export function checkUnused(environmentId: string, users: number): void {
  if (environmentId === DEFAULT_ENVIRONMENT) {
    throw refuse('RESOURCE_IN_USE', 'the default environment is needed by whoever names none');
  }
  if (users === 0) return;
  const who = users === 1 ? '1 agent or assistant names' : `${users} agents and assistants name`;
  throw refuse('RESOURCE_IN_USE', `${who} this environment`);
}

/** What a runner may work with. */
export function usable(environment: Environment | undefined): Environment {
  if (!environment) throw environmentNotFound();
  if (!environment.enabled) throw environmentDisabled();
  return environment;
}

export function environmentNotFound(): Refusal {
  return refuse('ENVIRONMENT_NOT_FOUND', 'there is no such environment');
}

export function environmentDisabled(): Refusal {
  return refuse('ENVIRONMENT_DISABLED', 'the environment is disabled');
}

export function nameTaken(name: string): Refusal {
  return refuse('NAME_TAKEN', `there is an environment named ${name} already`, {
    details: [{ pointer: '/name', message: 'is the name of another environment' }],
  });
}

/** The same for the same, in whatever order members were given. */
function fingerprint(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
