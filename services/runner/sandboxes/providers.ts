import { refuse } from '../../../lib/errors.ts';
import { isProviderName, PROVIDERS, type ProviderName, shortcomings } from '../../../lib/sandboxes.ts';
import type { EnvironmentSpec } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';

/** The providers of a runner. */
export interface Providers {
  /** Those that work here, the strongest first. */
  has: readonly SandboxProvider[];
  /** Why the others do not. */
  lacks: readonly { name: ProviderName; reason: string }[];
}

/** Which provider is in force, and why no stronger one is, for people. */
export function inForce({ has, lacks }: Providers): string {
  const [first] = has;
  const reasons = lacks.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  if (!first) return `none, so no command can be run${reasons && ` (${reasons})`}`;
  if (PROVIDERS[first.name].isolation === 'kernel') return `${first.name}, kept apart by the kernel`;
  return `${first.name}: a shell that starts no program${reasons && ` (${reasons})`}`;
}

/**
 * The one that an environment names; `auto` is the strongest. What it cannot keep of the environment is never left
 * out: that is refused with SANDBOX_UNAVAILABLE, as is a provider that does not work here.
 */
export function choose({ has, lacks }: Providers, spec: EnvironmentSpec | undefined): SandboxProvider {
  const wanted = spec?.sandbox?.provider ?? 'auto';
  const found = wanted === 'auto' ? has[0] : has.find(({ name }) => name === wanted);
  if (!found) {
    const reason = lacks.find(({ name }) => name === wanted)?.reason;
    const named = isProviderName(wanted) ? `sandboxes of the provider ${wanted}` : 'sandboxes';
    throw refuse('SANDBOX_UNAVAILABLE', `there are no ${named} on this runner${reason ? `: ${reason}` : ''}`);
  }
  const [lacking] = shortcomings(PROVIDERS[found.name], wishesOf(spec));
  if (!lacking) return found;
  throw refuse(
    'SANDBOX_UNAVAILABLE',
    `the provider ${found.name} of this runner cannot keep what the environment asks for: it ${lacking.reason}`,
  );
}

function wishesOf(spec: EnvironmentSpec | undefined) {
  const { image = '', cpuMillis, memoryMib, pids, diskMib } = spec?.sandbox ?? {};
  const limits = { cpu_millis: cpuMillis, memory_mib: memoryMib, pids, disk_mib: diskMib };
  return { image, network: spec?.network?.mode ?? 'none', limits };
}
