import { Refusal } from '../../../lib/errors.ts';
import type { CallOptions, Client } from '../../../lib/grpc/contract.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { AgentRuntime, AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type ParsedModelOptions, parseModelOptions } from '../models/model-options.ts';
import type { MoreTools, Toolbox, ToolboxFactory } from '../tools/toolbox.ts';
import { type OutputSchema, parseOutputSchema } from './structured-output.ts';

/** The settings of the agent version that a turn runs with. */
export interface TurnRuntime
  extends Omit<AgentRuntime, 'modelOptionsJson' | 'tools' | 'outputSchemaJson' | 'overridable'> {
  /** The name of the agent when the version was loaded; empty when the agents service is of an older release. */
  agentName: string;
  options: ParsedModelOptions;
  toolbox: Toolbox;
  /** The toolbox with more tools. */
  toolboxWith(more: MoreTools): Toolbox;
  /** Undefined when the answer is text. */
  outputSchema: OutputSchema | undefined;
}

export type RuntimeLoader = (
  agentId: string,
  version: number,
  call: CallOptions,
) => Promise<TurnRuntime | undefined>;

/** The version number of an assistant, which has no versions. */
const CURRENT = 0;

/**
 * Returns a function that loads agent versions. Versions are immutable, so the `maxCached` most recently used ones stay
 * in memory; assistants are loaded for every turn. The function resolves with undefined for a version that does not
 * exist and rejects when the agents service does not answer.
 */
export function createRuntimeLoader(
  agents: Pick<Client<AgentsServiceDefinition>, 'getAgentVersion'>,
  createToolbox: ToolboxFactory,
  maxCached = 1_000,
): RuntimeLoader {
  const cache = new LruCache<string, Promise<TurnRuntime | undefined>>(maxCached);

  async function load(agentId: string, version: number, call: CallOptions): Promise<TurnRuntime | undefined> {
    try {
      const response = await agents.getAgentVersion({ agentId, version }, call);
      const runtime = response.version?.runtime;
      if (!runtime) return undefined;
      const options = parseModelOptions(JSON.parse(runtime.modelOptionsJson || '{}'));
      const { agentName } = response;
      const toolboxWith = (more: MoreTools) => createToolbox(runtime.tools, more);
      const outputSchema = parseOutputSchema(runtime.outputSchemaJson);
      return { ...runtime, agentName, options, toolbox: toolboxWith({}), toolboxWith, outputSchema };
    } catch (error) {
      if (error instanceof Refusal && NOT_FOUND.has(error.code)) return undefined;
      throw error;
    }
  }

  return (agentId, version, call) => {
    if (version === CURRENT) return load(agentId, version, call);
    const key = `${agentId} ${version}`;
    const cached = cache.get(key);
    if (cached) return cached;
    const loading = load(agentId, version, call);
    cache.set(key, loading);
    // A missing version can appear later and a failed request can succeed later, so neither stays cached.
    const forget = () => cache.peek(key) === loading && cache.delete(key);
    void loading.then((runtime) => runtime ?? forget(), forget);
    return loading;
  };
}

const NOT_FOUND = new Set<string>(['AGENT_NOT_FOUND', 'AGENT_VERSION_NOT_FOUND']);
