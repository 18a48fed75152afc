import {
  isProviderName,
  NETWORKS,
  PROVIDERS,
  type ProviderKind,
  type Shortcoming,
  shortcomings,
} from '../../../lib/sandboxes.ts';
import type { NetworkSpec, SandboxSpec } from './environment.ts';
import type { Problems } from './problems.ts';

const KINDS: [name: string, kind: ProviderKind][] = Object.entries(PROVIDERS);
const AVAILABLE = KINDS.filter(([, kind]) => kind.available);

/** Reports what the provider cannot keep of what is asked of it. Of `auto`, one of this release has to keep it all. */
export function checkKept(sandbox: SandboxSpec, network: NetworkSpec, problems: Problems): void {
  const { provider, image } = sandbox;
  if (isProviderName(provider) && !PROVIDERS[provider].available) {
    const there = AVAILABLE.map(([name]) => name).join(', ');
    problems.add('/sandbox/provider', `names a provider that this release does not have; it has ${there}`);
    return;
  }
  const candidates = provider === 'auto' ? AVAILABLE : KINDS.filter(([name]) => name === provider);
  const wishes = { image, network: network.mode, limits: limitsOf(sandbox) };
  // Of several that fall short alike, the strongest is spoken of: it has the most to choose from.
  const [best] = candidates
    .toReversed()
    .map(([name, kind]) => ({ name, found: shortcomings(kind, wishes) }))
    .sort((one, other) => one.found.length - other.found.length);
  for (const { member, reason } of best?.found ?? []) {
    if (member === 'network' && !isNetwork(network.mode)) continue;
    problems.add(pointerTo(member), `cannot be kept: the provider ${best?.name} ${reason}`);
  }
}

function pointerTo(member: Shortcoming['member']): string {
  return member === 'network' ? '/network/mode' : `/sandbox/${member}`;
}

/** What is none was reported as such. */
function isNetwork(mode: string): boolean {
  return NETWORKS.some((one) => one === mode);
}

function limitsOf({ cpuMillis, memoryMib, pids, diskMib }: SandboxSpec) {
  return { cpu_millis: cpuMillis, memory_mib: memoryMib, pids, disk_mib: diskMib };
}
