import { Refusal } from '../../lib/errors.ts';
import type { CallOptions, Client } from '../../lib/grpc/contract.ts';
import type { AgentRuntime, AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { readOptions, type StepOptions } from './models/options.ts';
import type { Tools } from './tools/tool.ts';
import { createToolbox, type Toolbox } from './tools/toolbox.ts';

/** What the agent of a turn runs with. */
export interface Runtime extends Omit<AgentRuntime, 'modelOptionsJson' | 'tools'> {
  options: StepOptions;
  toolbox: Toolbox;
}

export type Versions = (agentId: string, version: number, call: CallOptions) => Promise<Runtime | undefined>;

/** Of an assistant, which has no versions: whatever it is now. */
const NEWEST = 0;

/**
 * The versions of agents. One never changes, so those used last are kept for as long as the process lives; what an
 * assistant is has to be asked each time. Undefined for a version that does not exist; fails when agents cannot be asked.
 */
export function createVersions(
  agents: Pick<Client<AgentsServiceDefinition>, 'getAgentVersion'>,
  tools: Tools,
  kept = 1_000,
): Versions {
  const known = new Map<string, Promise<Runtime | undefined>>();

  async function load(agentId: string, version: number, call: CallOptions): Promise<Runtime | undefined> {
    try {
      const answer = await agents.getAgentVersion({ agentId, version }, call);
      const runtime = answer.version?.runtime;
      if (!runtime) return undefined;
      const options = readOptions(JSON.parse(runtime.modelOptionsJson || '{}'));
      return { ...runtime, options, toolbox: createToolbox(tools, runtime.tools) };
    } catch (error) {
      if (error instanceof Refusal && MISSING.has(error.code)) return undefined;
      throw error;
    }
  }

  return (agentId, version, call) => {
    if (version === NEWEST) return load(agentId, version, call);
    const key = `${agentId} ${version}`;
    const found = known.get(key) ?? load(agentId, version, call);
    known.delete(key);
    known.set(key, found);
    const [oldest] = known.keys();
    if (known.size > kept && oldest !== undefined) known.delete(oldest);
    // What is missing now may only be late, and a failure says nothing of the next time.
    const forget = () => known.get(key) === found && known.delete(key);
    void found.then((runtime) => runtime ?? forget(), forget);
    return found;
  };
}

const MISSING = new Set<string>(['AGENT_NOT_FOUND', 'AGENT_VERSION_NOT_FOUND']);
