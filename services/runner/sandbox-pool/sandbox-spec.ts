import { NETWORKS } from '../../../lib/sandboxes.ts';
import type { EnvironmentSpec } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SandboxSpec } from '../sandbox/sandbox.ts';

/** Converts the specification of an environment to that of a sandbox. */
export function sandboxSpec(sandboxId: string, spec: EnvironmentSpec | undefined): SandboxSpec {
  const { cpuMillis, memoryMib, pids, diskMib, workspaceMib, image = '' } = spec?.sandbox ?? {};
  const { mode: requested, allowedHosts = [] } = spec?.network ?? {};
  const mode = NETWORKS.find((one) => one === requested) ?? 'none';
  return {
    sandboxId,
    limits: { cpuMillis, memoryMib, pids, diskMib, workspaceMib },
    network: { mode, allowedHosts },
    variables: spec?.variables ?? {},
    image,
  };
}
