import { type Refusal, refuse } from '../../../lib/errors.ts';

/** The settings for all commands of a sandbox. Every version of an environment has one. */
export interface EnvironmentSpec {
  sandbox: SandboxSettings;
  network: NetworkSpec;
  /** session | agent */
  tenancy: string;
  idle: IdleSpec;
  /** Environment variables for every command. */
  variables: Record<string, string>;
}

/** An absent limit means the provider's default. */
export interface SandboxSettings {
  /** auto, or a provider of lib/sandboxes.ts. */
  provider: string;
  /** Empty for none. */
  image: string;
  cpuMillis?: number | undefined;
  memoryMib?: number | undefined;
  pids?: number | undefined;
  diskMib?: number | undefined;
  workspaceMib?: number | undefined;
  commandTimeoutSeconds: number;
}

export interface NetworkSpec {
  /** none | limited | unrestricted */
  mode: string;
  /** Host patterns for the mode limited; otherwise empty. */
  allowedHosts: string[];
}

export interface IdleSpec {
  timeoutSeconds: number;
  /** suspend | release */
  action: string;
}

/** The fields of an environment that an administrator sets. */
export interface EnvironmentForm extends EnvironmentSpec {
  name: string;
  enabled: boolean;
}

export type EnvironmentPatch = Partial<Omit<EnvironmentForm, 'name'>>;

export interface Environment {
  /** env_… */
  environmentId: string;
  name: string;
  spec: EnvironmentSpec;
  enabled: boolean;
  /** 1, 2, 3 …: the newest version. `spec` is the spec of this version. */
  version: number;
  isDefault: boolean;
  /** usr_…; empty for the default environment, which a migration creates. */
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

/** One immutable version of an environment. */
export interface EnvironmentVersion {
  environmentId: string;
  version: number;
  spec: EnvironmentSpec;
  enabled: boolean;
  /** usr_…: the user who made this version. */
  createdBy: string;
  createdAt: Date;
}

/** The environment of agents that name none. A migration creates it with this fixed id. */
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

/** Returns the environment after a change: with a new version, or the same object when nothing differs. */
export function applyEnvironmentPatch(before: Environment, patch: EnvironmentPatch, now: Date): Environment {
  const enabled = patch.enabled ?? before.enabled;
  const spec: EnvironmentSpec = {
    sandbox: patch.sandbox ?? before.spec.sandbox,
    network: patch.network ?? before.spec.network,
    tenancy: patch.tenancy ?? before.spec.tenancy,
    idle: patch.idle ?? before.spec.idle,
    variables: patch.variables ?? before.spec.variables,
  };
  if (enabled === before.enabled && fingerprint(spec) === fingerprint(before.spec)) return before;
  return { ...before, spec, enabled, version: before.version + 1, updatedAt: now };
}

/** Refused with RESOURCE_IN_USE for the default environment and while `users` agents and assistants name it. */
export function checkUnused(environmentId: string, users: number): void {
  if (environmentId === DEFAULT_ENVIRONMENT) {
    throw refuse(
      'RESOURCE_IN_USE',
      'The default environment cannot be deleted: agents that name no environment use it.',
    );
  }
  if (users === 0) return;
  const subject = users === 1 ? '1 agent or assistant uses' : `${users} agents and assistants use`;
  throw refuse('RESOURCE_IN_USE', `${subject} this environment. Give them another environment first.`);
}

/** Returns an environment that a runner can use. Refused with ENVIRONMENT_NOT_FOUND or ENVIRONMENT_DISABLED. */
export function requireUsable(environment: Environment | undefined): Environment {
  if (!environment) throw environmentNotFound();
  if (!environment.enabled) throw environmentDisabled();
  return environment;
}

export function environmentNotFound(): Refusal {
  return refuse('ENVIRONMENT_NOT_FOUND', 'Unknown environment.');
}

export function environmentDisabled(): Refusal {
  return refuse('ENVIRONMENT_DISABLED', 'The environment is disabled.');
}

export function nameTaken(name: string): Refusal {
  return refuse('NAME_TAKEN', `An environment with the name \`${name}\` already exists.`, {
    details: [{ pointer: '/name', message: 'must be unique; another environment has this name' }],
  });
}

/** Returns the same text for equal values, regardless of the order of members. */
function fingerprint(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
