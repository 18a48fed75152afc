import { refuse } from '../../../lib/errors.ts';
import {
  isProviderName,
  PROVIDERS,
  type ProviderKind,
  type ProviderName,
  unsupportedRequirements,
} from '../../../lib/sandboxes.ts';
import type { EnvironmentSpec } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';
import type { SkillDirectory } from './skill-directory.ts';

/** The providers of a runner. */
export interface SandboxProviders {
  /** Providers that work on this machine, the one with the strongest isolation first. */
  available: readonly SandboxProvider[];
  /** Providers that do not work on this machine, with the reason. */
  unavailable: readonly { name: ProviderName; reason: string }[];
  /** The copies of skills that commands of the providers see. Absent: they see none. */
  skillDirectory?: SkillDirectory;
  /** How the default provider enforces the limits of workspace copies. */
  copies: string;
  /** Describes the space that copies use at present. */
  describeSpace?(): string;
  /** Releases the resources of the providers. No sandbox may exist any more. */
  close?(): void;
}

/** Describes the default provider, and why no stronger one works, for the start-up log and the status page. */
export function describeProviders({ available, unavailable }: SandboxProviders): string {
  const [first] = available;
  const reasons = unavailable.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  if (!first) return `none; commands cannot run${reasons && ` (${reasons})`}`;
  const { isolation } = PROVIDERS[first.name];
  if (isolation !== 'kernel')
    return `${first.name}, a shell that starts no programs${reasons && ` (${reasons})`}`;
  const { unenforcedLimits: missing = [] } = first;
  return `${first.name}, isolated by the kernel${missing.length > 0 ? `, without the limit ${missing.join(', ')}` : ''}`;
}

/** Returns the capabilities of a provider on this machine. */
export function kindOf({ name, unenforcedLimits = [] }: SandboxProvider): ProviderKind {
  const kind: ProviderKind = PROVIDERS[name];
  return { ...kind, limits: kind.limits.filter((limit) => !unenforcedLimits.includes(limit)) };
}

/**
 * Returns the provider that an environment names; `auto` selects the first available one. Throws SANDBOX_UNAVAILABLE
 * when it does not work on this machine, or cannot satisfy a requirement of the environment.
 */
export function chooseProvider(
  { available, unavailable }: SandboxProviders,
  spec: EnvironmentSpec | undefined,
): SandboxProvider {
  const requested = spec?.sandbox?.provider ?? 'auto';
  const provider = requested === 'auto' ? available[0] : available.find(({ name }) => name === requested);
  if (!provider) {
    const reason = unavailable.find(({ name }) => name === requested)?.reason;
    const name = isProviderName(requested) ? `sandbox provider ${requested}` : 'requested sandbox provider';
    throw refuse(
      'SANDBOX_UNAVAILABLE',
      `The ${name} is not available on this runner${reason ? ` (${reason})` : ''}.`,
    );
  }
  const [unsupported] = unsupportedRequirements(kindOf(provider), requirementsOf(spec));
  if (!unsupported) return provider;
  throw refuse(
    'SANDBOX_UNAVAILABLE',
    `The environment has a requirement that the sandbox provider ${provider.name} of this runner does not meet: it ${unsupported.reason}.`,
  );
}

function requirementsOf(spec: EnvironmentSpec | undefined) {
  const { image = '', cpuMillis, memoryMib, pids, diskMib, workspaceMib } = spec?.sandbox ?? {};
  const limits = {
    cpu_millis: cpuMillis,
    memory_mib: memoryMib,
    pids,
    disk_mib: diskMib,
    workspace_mib: workspaceMib,
  };
  return { image, network: spec?.network?.mode ?? 'none', limits };
}
