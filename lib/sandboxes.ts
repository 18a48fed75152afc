/**
 * The table of sandbox providers and the isolation, networks and limits that each one supports. Environments are
 * validated against it, runners implement it, and the reference is generated from it.
 */

export const NETWORKS = ['none', 'limited', 'unrestricted'] as const;
export type Network = (typeof NETWORKS)[number];

/** The limits of an environment, by their API names. */
export const LIMITS = ['cpu_millis', 'memory_mib', 'pids', 'disk_mib', 'workspace_mib'] as const;
export type LimitName = (typeof LIMITS)[number];

export interface ProviderKind {
  /** The isolation of commands. A simulation runs no program of the machine. */
  isolation: 'kernel' | 'simulation';
  /** Whether this release implements it. */
  available: boolean;
  /** Whether an environment can choose a container image. */
  images: boolean;
  networks: readonly Network[];
  limits: readonly LimitName[];
  about: string;
}

export const PROVIDERS = {
  simulated: {
    isolation: 'simulation',
    available: true,
    images: false,
    networks: ['none'],
    limits: ['memory_mib', 'disk_mib', 'workspace_mib'],
    about: 'A simulated shell: it implements common commands, runs on every system and starts no program.',
  },
  bubblewrap: {
    isolation: 'kernel',
    available: true,
    images: false,
    networks: ['none', 'limited'],
    limits: LIMITS,
    about: "The programs of the runner's machine in separate namespaces. Requires Linux with bubblewrap.",
  },
  docker: {
    isolation: 'kernel',
    available: false,
    images: true,
    networks: NETWORKS,
    limits: LIMITS,
    about: 'A container of a Docker engine.',
  },
  kubernetes: {
    isolation: 'kernel',
    available: false,
    images: true,
    networks: NETWORKS,
    limits: LIMITS,
    about: 'A pod of a Kubernetes cluster.',
  },
} as const satisfies Record<string, ProviderKind>;

export type ProviderName = keyof typeof PROVIDERS;

/** The accepted range of each limit: from the minimum for a working shell to more than any machine has. */
export const RANGES = {
  cpu_millis: { min: 10, max: 1_000_000 },
  memory_mib: { min: 16, max: 4_194_304 },
  pids: { min: 2, max: 1_000_000 },
  disk_mib: { min: 1, max: 4_194_304 },
  workspace_mib: { min: 1, max: 4_194_304 },
  command_timeout_seconds: { min: 1, max: 86_400 },
  idle_timeout_seconds: { min: 1, max: 2_592_000 },
} as const satisfies Record<LimitName | 'command_timeout_seconds' | 'idle_timeout_seconds', object>;

/** The provider choices of an environment. `auto` selects the strongest isolation that the runner has. */
export const PROVIDER_CHOICES = ['auto', ...(Object.keys(PROVIDERS) as ProviderName[])] as const;

export function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name);
}

/** The features that an environment requires of a provider. */
interface SandboxRequirements {
  /** Empty for no image. */
  image: string;
  network: string;
  limits: Readonly<Partial<Record<LimitName, number>>>;
}

export interface UnsupportedRequirement {
  member: 'image' | 'network' | LimitName;
  /** A phrase that follows the name of the provider in a sentence. */
  reason: string;
}

/** Returns the requirements that a provider cannot meet. Empty when it meets all of them. */
export function unsupportedRequirements(
  kind: ProviderKind,
  { image, network, limits }: SandboxRequirements,
): UnsupportedRequirement[] {
  const found: UnsupportedRequirement[] = [];
  if (image !== '' && !kind.images) found.push({ member: 'image', reason: 'does not support images' });
  for (const member of LIMITS) {
    if (limits[member] === undefined || kind.limits.includes(member)) continue;
    found.push({ member, reason: `supports only the limits ${kind.limits.join(', ')}` });
  }
  if (!kind.networks.some((one) => one === network)) {
    found.push({ member: 'network', reason: `supports only the networks ${kind.networks.join(', ')}` });
  }
  return found;
}
