import { refuse } from '../../../lib/errors.ts';
import { isProviderName, type ProviderName } from '../../../lib/sandboxes.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';

/** The providers of a runner. */
export interface Providers {
  /** Those that work here, the strongest first. */
  has: readonly SandboxProvider[];
  /** Why the others do not. */
  lacks: readonly { name: ProviderName; reason: string }[];
}

/** The one that an environment names; `auto` is the strongest. Refused with SANDBOX_UNAVAILABLE. */
export function choose({ has, lacks }: Providers, wanted: string): SandboxProvider {
  const found = wanted === 'auto' ? has[0] : has.find(({ name }) => name === wanted);
  if (found) return found;
  const reason = lacks.find(({ name }) => name === wanted)?.reason;
  const named = isProviderName(wanted) ? `sandboxes of the provider ${wanted}` : 'sandboxes';
  throw refuse('SANDBOX_UNAVAILABLE', `there are no ${named} on this runner${reason ? `: ${reason}` : ''}`);
}
