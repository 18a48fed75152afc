/**
 * The table of sandbox providers: what each can keep of what an environment asks for. Environments are checked
 * against it, runners implement it, and the reference is generated from it.
 */

export const NETWORKS = ['none', 'limited', 'unrestricted'] as const;
export type Network = (typeof NETWORKS)[number];

/** What an environment may limit, under the names of its API. */
export const LIMITS = ['cpu_millis', 'memory_mib', 'pids', 'disk_mib'] as const;
export type Limit = (typeof LIMITS)[number];

export interface ProviderKind {
  /** What keeps its commands apart from everything else; a simulation runs no program of the machine at all. */
  isolation: 'kernel' | 'simulation';
  /** This release has it. */
  available: boolean;
  /** It starts from an image of the environment's choice. */
  images: boolean;
  networks: readonly Network[];
  limits: readonly Limit[];
  about: string;
}

export const PROVIDERS = {
  simulated: {
    isolation: 'simulation',
    available: true,
    images: false,
    networks: ['none'],
    limits: ['memory_mib', 'disk_mib'],
    about: 'A shell that is only simulated: it knows common commands, runs anywhere and starts no program.',
  },
  bubblewrap: {
    isolation: 'kernel',
    available: true,
    images: false,
    networks: ['none', 'limited'],
    limits: LIMITS,
    about: "The programs of the runner's machine, in namespaces of their own. Linux with bubblewrap.",
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

/** What an environment may ask of a sandbox: from the least that a shell can work with to more than any machine has. */
export const RANGES = {
  cpu_millis: { min: 10, max: 1_000_000 },
  memory_mib: { min: 16, max: 4_194_304 },
  pids: { min: 2, max: 1_000_000 },
  disk_mib: { min: 1, max: 4_194_304 },
  command_timeout_seconds: { min: 1, max: 86_400 },
  idle_timeout_seconds: { min: 1, max: 2_592_000 },
} as const satisfies Record<Limit | 'command_timeout_seconds' | 'idle_timeout_seconds', object>;

/** What an environment may name: a provider, or the strongest that the runner has. */
export const PROVIDER_CHOICES = ['auto', ...(Object.keys(PROVIDERS) as ProviderName[])] as const;

export function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name);
}

/** What is asked of a provider. */
export interface Wishes {
  /** Empty for none. */
  image: string;
  network: string;
  limits: Readonly<Partial<Record<Limit, number>>>;
}

export interface Shortcoming {
  member: 'image' | 'network' | Limit;
  /** A phrase that follows the name of the provider. */
  reason: string;
}

/** What a provider cannot keep of what is asked of it; empty when it keeps it all. */
export function shortcomings(kind: ProviderKind, { image, network, limits }: Wishes): Shortcoming[] {
  const found: Shortcoming[] = [];
  if (image !== '' && !kind.images) found.push({ member: 'image', reason: 'starts from no image' });
  for (const member of LIMITS) {
    if (limits[member] === undefined || kind.limits.includes(member)) continue;
    found.push({ member, reason: `limits only ${kind.limits.join(', ')}` });
  }
  if (!kind.networks.some((one) => one === network)) {
    found.push({ member: 'network', reason: `has no such network, only ${kind.networks.join(', ')}` });
  }
  return found;
}
