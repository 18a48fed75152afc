import type { FieldProblem } from '../../../lib/errors.ts';
import { isProviderName, LIMITS, NETWORKS, PROVIDERS, type ProviderKind } from '../../../lib/sandboxes.ts';
import type { NetworkSpec, SandboxSpec } from './environment.ts';
import type { Problems } from './problems.ts';

const KINDS: [name: string, kind: ProviderKind][] = Object.entries(PROVIDERS);
const AVAILABLE = KINDS.filter(([, kind]) => kind.available);

/** Reports what the provider cannot keep of what is asked of it. Of `auto`, one of this release has to keep it all. */
export function checkKept(sandbox: SandboxSpec, network: NetworkSpec, problems: Problems): void {
  const { provider } = sandbox;
  const candidates = provider === 'auto' ? AVAILABLE : KINDS.filter(([name]) => name === provider);
  if (isProviderName(provider) && !PROVIDERS[provider].available) {
    problems.add(
      '/sandbox/provider',
      `names a provider that this release does not have; it has ${namesOf(AVAILABLE)}`,
    );
    return;
  }
  const [best = []] = candidates
    .map(([name, kind]) => misfits(name, kind, sandbox, network))
    .sort((one, other) => one.length - other.length);
  for (const { pointer, message } of best) problems.add(pointer, message);
}

function misfits(
  name: string,
  kind: ProviderKind,
  sandbox: SandboxSpec,
  network: NetworkSpec,
): FieldProblem[] {
  const found: FieldProblem[] = [];
  const add = (pointer: string, message: string) =>
    found.push({ pointer, message: `cannot be kept: the provider ${name} ${message}` });
  if (sandbox.image !== '' && !kind.images) add('/sandbox/image', 'starts from no image');
  const asked = limitsOf(sandbox);
  for (const limit of LIMITS) {
    if (asked[limit] !== undefined && !kind.limits.includes(limit)) {
      add(`/sandbox/${limit}`, `limits only ${kind.limits.join(', ')}`);
    }
  }
  const mode = NETWORKS.find((one) => one === network.mode);
  if (mode && !kind.networks.includes(mode)) {
    add('/network/mode', `has no such network, only ${kind.networks.join(', ')}`);
  }
  return found;
}

function limitsOf({ cpuMillis, memoryMib, pids, diskMib }: SandboxSpec) {
  return { cpu_millis: cpuMillis, memory_mib: memoryMib, pids, disk_mib: diskMib };
}

function namesOf(kinds: typeof KINDS): string {
  return kinds.map(([name]) => name).join(', ');
}
