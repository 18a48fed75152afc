import { type Static, type TSchemaOptions, Type } from 'typebox';
import { type LIMITS, NETWORKS, PROVIDER_CHOICES, RANGES } from '../../lib/sandboxes.ts';
import type {
  Environment,
  EnvironmentSpec,
  EnvironmentVersion,
} from '../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, count, flag, id, NULL, nullable, optional, shownTime, text, time } from './common.ts';

type Ranged = keyof typeof RANGES;

const ranged = (range: Ranged, description: string, options: TSchemaOptions = {}) =>
  Type.Integer({ minimum: RANGES[range].min, maximum: RANGES[range].max, description, ...options });

const LIMIT_TEXTS: Record<(typeof LIMITS)[number], string> = {
  cpu_millis: 'Thousandths of a processor.',
  memory_mib: 'Mebibytes of memory.',
  pids: 'Processes at the same time.',
  disk_mib: 'Mebibytes of temporary files.',
};
const limit = (name: (typeof LIMITS)[number]) =>
  nullable(ranged(name, `${LIMIT_TEXTS[name]} Null is what the provider has.`), NULL);

const sandbox = {
  provider: Type.Enum([...PROVIDER_CHOICES], {
    description: 'What runs its commands; `auto` is the strongest that the runner has.',
  }),
  image: nullable(
    text('The container image it starts from, for providers that have images.', { maxLength: 512 }),
    NULL,
  ),
  cpu_millis: limit('cpu_millis'),
  memory_mib: limit('memory_mib'),
  pids: limit('pids'),
  disk_mib: limit('disk_mib'),
  command_timeout_seconds: ranged('command_timeout_seconds', 'The longest one command may take.', {
    examples: [120],
  }),
};
const network = {
  mode: Type.Enum([...NETWORKS], { description: 'What its commands can reach.' }),
  allowed_hosts: Type.Array(
    text('A host name, or `*.` and a domain; `:port` for other ports than 80 and 443.'),
    {
      maxItems: 100,
      description: 'Of the mode `limited`: the hosts that can be reached, whose addresses have to be public.',
      examples: [[]],
    },
  ),
};
const tenancy = Type.Enum(['session', 'agent'], {
  description:
    'Whether each session has a sandbox of its own, or all sessions of an owner with one agent share it.',
});
const idle = {
  timeout_seconds: ranged('idle_timeout_seconds', 'How long it is kept ready without a command.', {
    examples: [900],
  }),
  action: Type.Enum(['suspend', 'release'], { description: 'What happens to it then.' }),
};
const variables = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 100,
  additionalProperties: { type: 'string', maxLength: 4_096 },
  description: 'Environment variables of every command. They are no secrets.',
  examples: [{ LANG: 'C.UTF-8' }],
});
const enabled = flag('Whether new sessions may start in it.');
const name = text('Unique, and never changed: a–z, 0–9 and -.', {
  minLength: 1,
  maxLength: 64,
  examples: ['builds'],
});

const SandboxPart = closed({
  provider: optional(sandbox.provider),
  image: optional(sandbox.image),
  cpu_millis: optional(sandbox.cpu_millis),
  memory_mib: optional(sandbox.memory_mib),
  pids: optional(sandbox.pids),
  disk_mib: optional(sandbox.disk_mib),
  command_timeout_seconds: optional(sandbox.command_timeout_seconds),
});
const NetworkPart = closed({ mode: optional(network.mode), allowed_hosts: optional(network.allowed_hosts) });
const IdlePart = closed({ timeout_seconds: optional(idle.timeout_seconds), action: optional(idle.action) });

const parts = {
  sandbox: optional(SandboxPart),
  network: optional(NetworkPart),
  tenancy: optional(tenancy),
  idle: optional(IdlePart),
  variables: optional(variables),
  enabled: optional(enabled),
};

export const EnvironmentCreation = closed({ name, ...parts });
export const EnvironmentPatch = closed(parts);

const spec = {
  sandbox: Type.Object(sandbox),
  network: Type.Object(network),
  tenancy,
  idle: Type.Object(idle),
  variables,
};

export const EnvironmentShape = Type.Object(
  {
    environment_id: id('env', 'the environment'),
    name,
    ...spec,
    enabled,
    version: count('1, 2, 3 …: the newest version.'),
    is_default: flag('Whether it is the one of agents that name none.', false),
    created_by: nullable(id('usr', 'who created it; null for the one that was there from the beginning')),
    created_at: time('When it was created.'),
    updated_at: time('When it last changed.'),
  },
  { title: 'Environment' },
);

export const EnvironmentVersionShape = Type.Object(
  {
    environment_id: id('env', 'the environment'),
    version: count('Its number.'),
    ...spec,
    enabled,
    created_by: nullable(id('usr', 'who made it; null for what was there from the beginning')),
    created_at: time('When it was made.'),
  },
  { title: 'EnvironmentVersion', description: 'What the environment was. It never changes.' },
);

/** A part as the service takes it: whatever it does not say is what an environment has that says nothing. */
export function sandboxOf(part: Static<typeof SandboxPart>) {
  return {
    provider: part.provider ?? 'auto',
    image: part.image ?? '',
    cpuMillis: part.cpu_millis ?? undefined,
    memoryMib: part.memory_mib ?? undefined,
    pids: part.pids ?? undefined,
    diskMib: part.disk_mib ?? undefined,
    commandTimeoutSeconds: part.command_timeout_seconds ?? 120,
  };
}

export function networkOf(part: Static<typeof NetworkPart>) {
  return { mode: part.mode ?? 'none', allowedHosts: part.allowed_hosts ?? [] };
}

export function idleOf(part: Static<typeof IdlePart>) {
  return { timeoutSeconds: part.timeout_seconds ?? 900, action: part.action ?? 'suspend' };
}

function shownSpec(shown: EnvironmentSpec | undefined) {
  return {
    sandbox: {
      provider: shown?.sandbox?.provider,
      image: shown?.sandbox?.image || null,
      cpu_millis: shown?.sandbox?.cpuMillis ?? null,
      memory_mib: shown?.sandbox?.memoryMib ?? null,
      pids: shown?.sandbox?.pids ?? null,
      disk_mib: shown?.sandbox?.diskMib ?? null,
      command_timeout_seconds: shown?.sandbox?.commandTimeoutSeconds,
    },
    network: { mode: shown?.network?.mode, allowed_hosts: shown?.network?.allowedHosts },
    tenancy: shown?.tenancy,
    idle: { timeout_seconds: shown?.idle?.timeoutSeconds, action: shown?.idle?.action },
    variables: shown?.variables,
  };
}

export function shownEnvironment(environment: Environment | undefined) {
  return {
    environment_id: environment?.environmentId,
    name: environment?.name,
    ...shownSpec(environment?.spec),
    enabled: environment?.enabled,
    version: environment?.version,
    is_default: environment?.isDefault,
    created_by: environment?.createdBy || null,
    created_at: shownTime(environment?.createdAt),
    updated_at: shownTime(environment?.updatedAt),
  };
}

export function shownEnvironmentVersion(version: EnvironmentVersion) {
  return {
    environment_id: version.environmentId,
    version: version.version,
    ...shownSpec(version.spec),
    enabled: version.enabled,
    created_by: version.createdBy || null,
    created_at: shownTime(version.createdAt),
  };
}
