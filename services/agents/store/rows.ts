import type { Runtime, Tool } from '../domain/form.ts';
import type { Agent, AgentVersion, Seen } from '../domain.ts';

/** The columns of a version that make up its runtime, under the names of the domain. */
interface RuntimeRow {
  model: string;
  modelOptionsJson: string;
  system: string;
  environmentId: string;
  tools: Tool[];
  maxSteps: number;
  maxTokens: number | null;
  maxTurnSeconds: number | null;
}

export type AgentRow = Omit<Seen, 'runtime'> & RuntimeRow;
export type VersionRow = Omit<AgentVersion, 'runtime'> & RuntimeRow;

export function agentOf(row: AgentRow): Seen {
  const {
    agentId,
    name,
    description,
    metadata,
    enabled,
    visibility,
    version,
    createdBy,
    createdAt,
    updatedAt,
    level,
  } = row;
  return {
    agentId,
    name,
    description,
    runtime: runtimeOf(row),
    metadata,
    enabled,
    visibility,
    version,
    createdBy,
    createdAt,
    updatedAt,
    level,
  };
}

export function versionOf(row: VersionRow): AgentVersion {
  const { agentId, version, createdBy, createdAt } = row;
  return { agentId, version, runtime: runtimeOf(row), createdBy, createdAt };
}

function runtimeOf(row: RuntimeRow): Runtime {
  const { model, modelOptionsJson, system, environmentId, tools, maxSteps, maxTokens, maxTurnSeconds } = row;
  const budget = { maxTokens: maxTokens ?? undefined, maxTurnSeconds: maxTurnSeconds ?? undefined };
  return { model, modelOptionsJson, system, environmentId, tools, maxSteps, budget };
}

/** In the order of INSERT. */
export function insertValues(agent: Agent): unknown[] {
  return [agent.agentId, agent.createdBy, agent.createdAt, ...labelValues(agent)];
}

/** In the order of UPDATE. */
export function updateValues(agent: Agent): unknown[] {
  return [agent.agentId, ...labelValues(agent)];
}

function labelValues(agent: Agent): unknown[] {
  const { name, description, metadata, enabled, visibility, version, updatedAt } = agent;
  return [name, description, JSON.stringify(metadata), enabled, visibility, version, updatedAt];
}

/** In the order of INSERT_VERSION: the newest version of the agent, and who has made it. */
export function versionValues({ agentId, version, runtime, updatedAt }: Agent, by: string): unknown[] {
  return [
    agentId,
    version,
    runtime.model,
    runtime.modelOptionsJson,
    runtime.system,
    runtime.environmentId,
    JSON.stringify(runtime.tools),
    runtime.maxSteps,
    runtime.budget.maxTokens ?? null,
    runtime.budget.maxTurnSeconds ?? null,
    Buffer.byteLength(runtime.modelOptionsJson) + Buffer.byteLength(runtime.system),
    by,
    updatedAt,
  ];
}
