import { type Static, type TSchemaOptions, Type } from 'typebox';
import { type LIMITS, NETWORKS, PROVIDER_CHOICES, RANGES } from '../../lib/sandboxes.ts';
import type {
  Environment,
  EnvironmentSpec,
  EnvironmentVersion,
} from '../../proto/gen/ahs/agents/v1/agents.ts';
import {
  closed,
  count,
  flag,
  id,
  NULL,
  nullable,
  optional,
  revision,
  serializeTime,
  text,
  time,
} from './common.ts';

type Ranged = keyof typeof RANGES;

const ranged = (range: Ranged, description: string, options: TSchemaOptions = {}) =>
  Type.Integer({ minimum: RANGES[range].min, maximum: RANGES[range].max, description, ...options });

const LIMIT_TEXTS: Record<(typeof LIMITS)[number], string> = {
  cpu_millis: 'CPU limit in thousandths of a core.',
  memory_mib: 'Memory limit in MiB.',
  pids: 'Maximum number of processes.',
  disk_mib: 'Limit of temporary files in MiB.',
  workspace_mib: 'Limit of each workspace copy in MiB.',
};
const DEFAULT_TEXTS: Partial<typeof LIMIT_TEXTS> = { workspace_mib: 'the limit of workspaces' };
const limit = (name: (typeof LIMITS)[number]) =>
  nullable(
    ranged(name, `${LIMIT_TEXTS[name]} Null: ${DEFAULT_TEXTS[name] ?? 'the default of the provider'}.`),
    NULL,
  );

const sandbox = {
  provider: Type.Enum([...PROVIDER_CHOICES], {
    description:
      'The sandbox provider that runs commands. `auto` selects the strongest one that the runner supports.',
  }),
  image: nullable(text('The container image, for providers that use images.', { maxLength: 512 }), NULL),
  cpu_millis: limit('cpu_millis'),
  memory_mib: limit('memory_mib'),
  pids: limit('pids'),
  disk_mib: limit('disk_mib'),
  workspace_mib: limit('workspace_mib'),
  command_timeout_seconds: ranged('command_timeout_seconds', 'The time limit of a command in seconds.', {
    examples: [120],
  }),
};
const network = {
  mode: Type.Enum([...NETWORKS], { description: 'The network access of commands.' }),
  allowed_hosts: Type.Array(
    text('A host name, or `*.` and a domain. Append `:port` for ports other than 80 and 443.'),
    {
      maxItems: 100,
      description: 'The reachable hosts in mode `limited`. Their addresses must be public.',
      examples: [[]],
    },
  ),
};
const tenancy = Type.Enum(['session', 'agent'], {
  title: 'Tenancy',
  description:
    '`session`: each session has its own sandbox. `agent`: all sessions of one user with one agent share a sandbox.',
});
const idle = {
  timeout_seconds: ranged('idle_timeout_seconds', 'The time in seconds that an idle sandbox stays ready.', {
    examples: [900],
  }),
  action: Type.Enum(['suspend', 'release'], {
    description: 'What happens to the sandbox after the idle timeout.',
  }),
};
const variables = Type.Unsafe<Record<string, string>>({
  title: 'EnvironmentVariables',
  type: 'object',
  maxProperties: 100,
  additionalProperties: { type: 'string', maxLength: 4_096 },
  description: 'Environment variables of every command. Do not store secrets here.',
  examples: [{ LANG: 'C.UTF-8' }],
});
const enabled = flag('Whether new sessions can use the environment.');
const name = text('A unique name of a–z, 0–9 and `-`. It cannot be changed.', {
  minLength: 1,
  maxLength: 64,
  examples: ['builds'],
});

const SandboxPart = closed(
  {
    provider: optional(sandbox.provider),
    image: optional(sandbox.image),
    cpu_millis: optional(sandbox.cpu_millis),
    memory_mib: optional(sandbox.memory_mib),
    pids: optional(sandbox.pids),
    disk_mib: optional(sandbox.disk_mib),
    workspace_mib: optional(sandbox.workspace_mib),
    command_timeout_seconds: optional(sandbox.command_timeout_seconds),
  },
  { title: 'SandboxSettingsChange' },
);
const NetworkPart = closed(
  { mode: optional(network.mode), allowed_hosts: optional(network.allowed_hosts) },
  { title: 'NetworkSettingsChange' },
);
const IdlePart = closed(
  { timeout_seconds: optional(idle.timeout_seconds), action: optional(idle.action) },
  { title: 'IdleSettingsChange' },
);

const parts = {
  sandbox: optional(SandboxPart),
  network: optional(NetworkPart),
  tenancy: optional(tenancy),
  idle: optional(IdlePart),
  variables: optional(variables),
  enabled: optional(enabled),
};

export const EnvironmentCreationBody = closed({ name, ...parts });
export const EnvironmentPatchBody = closed(parts);

const spec = {
  sandbox: Type.Object(sandbox, { title: 'SandboxSettings' }),
  network: Type.Object(network, { title: 'NetworkSettings' }),
  tenancy,
  idle: Type.Object(idle, { title: 'IdleSettings' }),
  variables,
};

export const EnvironmentShape = Type.Object(
  {
    environment_id: id('env', 'the environment'),
    name,
    ...spec,
    enabled,
    version: count('The newest version. Starts at 1.'),
    revision,
    is_default: flag('Whether agents without an environment use this one.', false),
    created_by: nullable(id('usr', 'the user who created it; null for the built-in environment')),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last change.'),
  },
  { title: 'Environment' },
);

export const EnvironmentVersionShape = Type.Object(
  {
    environment_id: id('env', 'the environment'),
    version: count('The version number.'),
    ...spec,
    enabled,
    created_by: nullable(id('usr', 'the user who created the version; null for the built-in version')),
    created_at: time('The creation time.'),
  },
  { title: 'EnvironmentVersion', description: 'A version of an environment. Versions are immutable.' },
);

/** Converts a part of a request. Omitted members get the defaults of a new environment. */
export function sandboxOf(part: Static<typeof SandboxPart>) {
  return {
    provider: part.provider ?? 'auto',
    image: part.image ?? '',
    cpuMillis: part.cpu_millis ?? undefined,
    memoryMib: part.memory_mib ?? undefined,
    pids: part.pids ?? undefined,
    diskMib: part.disk_mib ?? undefined,
    workspaceMib: part.workspace_mib ?? undefined,
    commandTimeoutSeconds: part.command_timeout_seconds ?? 120,
  };
}

export function networkOf(part: Static<typeof NetworkPart>) {
  return { mode: part.mode ?? 'none', allowedHosts: part.allowed_hosts ?? [] };
}

export function idleOf(part: Static<typeof IdlePart>) {
  return { timeoutSeconds: part.timeout_seconds ?? 900, action: part.action ?? 'suspend' };
}

function serializeSpec(shown: EnvironmentSpec | undefined) {
  return {
    sandbox: {
      provider: shown?.sandbox?.provider,
      image: shown?.sandbox?.image || null,
      cpu_millis: shown?.sandbox?.cpuMillis ?? null,
      memory_mib: shown?.sandbox?.memoryMib ?? null,
      pids: shown?.sandbox?.pids ?? null,
      disk_mib: shown?.sandbox?.diskMib ?? null,
      workspace_mib: shown?.sandbox?.workspaceMib ?? null,
      command_timeout_seconds: shown?.sandbox?.commandTimeoutSeconds,
    },
    network: { mode: shown?.network?.mode, allowed_hosts: shown?.network?.allowedHosts },
    tenancy: shown?.tenancy,
    idle: { timeout_seconds: shown?.idle?.timeoutSeconds, action: shown?.idle?.action },
    variables: shown?.variables,
  };
}

export function serializeEnvironment(environment: Environment | undefined) {
  return {
    environment_id: environment?.environmentId,
    name: environment?.name,
    ...serializeSpec(environment?.spec),
    enabled: environment?.enabled,
    version: environment?.version,
    revision: environment?.version,
    is_default: environment?.isDefault,
    created_by: environment?.createdBy || null,
    created_at: serializeTime(environment?.createdAt),
    updated_at: serializeTime(environment?.updatedAt),
  };
}

export function serializeEnvironmentVersion(version: EnvironmentVersion) {
  return {
    environment_id: version.environmentId,
    version: version.version,
    ...serializeSpec(version.spec),
    enabled: version.enabled,
    created_by: version.createdBy || null,
    created_at: serializeTime(version.createdAt),
  };
}
