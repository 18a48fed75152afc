import { NETWORKS } from '../../../lib/sandboxes.ts';
import type { EnvironmentSpec } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SandboxSpec } from '../sandbox/sandbox.ts';

/** What a provider is asked for. */
export function specOf(sandboxId: string, spec: EnvironmentSpec | undefined): SandboxSpec {
  const { cpuMillis, memoryMib, pids, diskMib, image = '' } = spec?.sandbox ?? {};
  const { mode: wanted, allowedHosts = [] } = spec?.network ?? {};
  const mode = NETWORKS.find((one) => one === wanted) ?? 'none';
  return {
    sandboxId,
    limits: { cpuMillis, memoryMib, pids, diskMib },
    network: { mode, allowedHosts },
    variables: spec?.variables ?? {},
    image,
  };
}
