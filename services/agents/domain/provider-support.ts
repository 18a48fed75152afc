import type { FieldProblems } from '../../../lib/field-problems.ts';
import {
  isProviderName,
  NETWORKS,
  PROVIDERS,
  type ProviderKind,
  type UnsupportedRequirement,
  unsupportedRequirements,
} from '../../../lib/sandboxes.ts';
import type { NetworkSpec, SandboxSettings } from './environment.ts';
import type { Runner } from './runner.ts';

/** A provider as it is offered: `kind` contains only the limits that it enforces. */
interface Offer {
  name: string;
  kind: ProviderKind;
}

const KINDS: Offer[] = Object.entries(PROVIDERS).map(([name, kind]) => ({ name, kind }));
const AVAILABLE = KINDS.filter(({ kind }) => kind.available);

/**
 * Reports the requirements of an environment that its sandbox provider does not support. Every runner has to support all
 * of them, because any runner can run its commands. While no runner reports, one provider of this release has to.
 */
export function checkProviderSupport(
  sandbox: SandboxSettings,
  network: NetworkSpec,
  runners: readonly Runner[],
  problems: FieldProblems,
): void {
  const { provider, image } = sandbox;
  if (isProviderName(provider) && !PROVIDERS[provider].available) {
    const available = AVAILABLE.map(({ name }) => name).join(', ');
    problems.add('/sandbox/provider', `must name a provider of this release: ${available}`);
    return;
  }
  if (isProviderName(provider) && !runners.every((runner) => offersOf(runner, provider).length > 0)) {
    problems.add('/sandbox/provider', `is not available on every runner: ${inForce(runners)}`);
    return;
  }
  const requirements = { image, network: network.mode, limits: limitsOf(sandbox) };
  const [worst] = candidates(runners, provider)
    .flatMap((offers) => bestOf(offers, requirements) ?? [])
    .sort((one, other) => other.found.length - one.found.length);
  for (const { member, reason } of worst?.found ?? []) {
    if (member === 'network' && !isNetwork(network.mode)) continue;
    problems.add(pointerTo(member), `is not supported: the provider ${worst?.name} ${reason}`);
  }
}

/** Returns the offers from which the provider of an environment is selected: one set for each runner. */
function candidates(runners: readonly Runner[], provider: string): Offer[][] {
  if (runners.length > 0) return runners.map((runner) => offersOf(runner, provider));
  return [provider === 'auto' ? AVAILABLE : KINDS.filter(({ name }) => name === provider)];
}

/** Returns the provider that the runner uses, as it is there: `auto` selects the first one. */
function offersOf({ providers }: Runner, provider: string): Offer[] {
  const offers = providers.flatMap(({ name, limits }): Offer[] => {
    if (!isProviderName(name)) return [];
    const kind: ProviderKind = PROVIDERS[name];
    return [{ name, kind: { ...kind, limits: kind.limits.filter((limit) => limits.includes(limit)) } }];
  });
  return provider === 'auto' ? offers.slice(0, 1) : offers.filter(({ name }) => name === provider);
}

/** Among offers with equally many problems, it returns the strongest one, which is the last of the table. */
function bestOf(offers: readonly Offer[], requirements: Parameters<typeof unsupportedRequirements>[1]) {
  const [best] = offers
    .toReversed()
    .map(({ name, kind }) => ({ name, found: unsupportedRequirements(kind, requirements) }))
    .sort((one, other) => one.found.length - other.found.length);
  return best;
}

function inForce(runners: readonly Runner[]): string {
  const facts = runners.flatMap(({ backends }) => backends.filter(({ role }) => role === 'sandbox'));
  return [...new Set(facts.map(({ description }) => description))].join('; ');
}

function pointerTo(member: UnsupportedRequirement['member']): string {
  return member === 'network' ? '/network/mode' : `/sandbox/${member}`;
}

/** An unknown network mode has been reported before. */
function isNetwork(mode: string): boolean {
  return NETWORKS.some((network) => network === mode);
}

function limitsOf({ cpuMillis, memoryMib, pids, diskMib, workspaceMib }: SandboxSettings) {
  return {
    cpu_millis: cpuMillis,
    memory_mib: memoryMib,
    pids,
    disk_mib: diskMib,
    workspace_mib: workspaceMib,
  };
}
