import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { EnvironmentSpec } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { isSandboxError } from '../sandbox/sandbox-error.ts';
import { chooseProvider, type SandboxProviders } from '../sandbox-providers/choose-provider.ts';
import { sandboxSpec } from './sandbox-spec.ts';

interface CreateSandboxOptions {
  providers: SandboxProviders;
  ids: Ids;
  log: Log;
}

/**
 * Creates a sandbox for an environment. Rejects with SANDBOX_UNAVAILABLE when the machine cannot provide it. Defects are
 * not converted.
 */
export async function createSandbox(
  { providers, ids, log }: CreateSandboxOptions,
  environment: EnvironmentSpec | undefined,
): Promise<Sandbox> {
  const provider = chooseProvider(providers, environment);
  const spec = sandboxSpec(ids('sbx'), environment);
  try {
    return await provider.create(spec);
  } catch (error) {
    const isRefusal = error instanceof Refusal;
    if (!isRefusal && !isSandboxError(error)) throw error;
    log.warn({ err: error }, 'a sandbox could not be created');
    if (isRefusal) throw error;
    throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox could not be created.', { cause: error });
  }
}
