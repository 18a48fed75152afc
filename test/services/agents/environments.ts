import type {
  CreateEnvironmentRequest,
  Environment,
  EnvironmentSpec,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type AgentsSystem, administrator } from './system.ts';

export const DEFAULT = 'env_00000000000000000000000000';
export const ABSENT_ENVIRONMENT = 'env_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

export const SPEC: EnvironmentSpec = {
  sandbox: { provider: 'bubblewrap', image: '', memoryMib: 512, commandTimeoutSeconds: 60 },
  network: { mode: 'none', allowedHosts: [] },
  tenancy: 'session',
  idle: { timeoutSeconds: 300, action: 'suspend' },
  variables: { LANG: 'C.UTF-8' },
};

/** The default spec with some parts overridden. */
export function specWith(parts: { [Part in keyof EnvironmentSpec]?: object | string }): EnvironmentSpec {
  const { sandbox, network, idle, ...rest } = parts as Record<string, object | string>;
  return {
    ...SPEC,
    ...rest,
    sandbox: { ...SPEC.sandbox!, ...(sandbox as object) },
    network: { ...SPEC.network!, ...(network as object) },
    idle: { ...SPEC.idle!, ...(idle as object) },
  };
}

let made = 0;

/** A valid request with a unique name. */
export function environmentRequest(
  overrides: Partial<CreateEnvironmentRequest> = {},
): CreateEnvironmentRequest {
  made += 1;
  return { name: `environment-${made}`, spec: SPEC, enabled: true, idempotencyKey: '', ...overrides };
}

/** An update request with only the given fields. */
export function environmentChange(environmentId: string, members: object = {}) {
  return {
    environmentId,
    sandbox: undefined,
    network: undefined,
    idle: undefined,
    variables: undefined,
    ...members,
  };
}

export async function createdEnvironment(
  { edge }: AgentsSystem,
  overrides: Partial<CreateEnvironmentRequest> = {},
): Promise<Environment> {
  const { environment } = await edge.createEnvironment(environmentRequest(overrides), administrator);
  if (!environment) throw new Error('the answer holds no environment');
  return environment;
}
