import type { Agent, AgentVersion, AgentWithLevel } from '../domain/agent.ts';
import { type AgentRuntime, runtimeFields } from '../domain/agent-runtime.ts';

const RUNTIME_COLUMNS = runtimeFields.flatMap(([, { columns }]) => columns);

/** Row members of runtime columns have a prefix, so that they cannot hide a member of the agent. */
const memberOf = (column: string) => `runtime.${column}`;

/** The runtime columns of a version `v`. */
export const SELECT_RUNTIME = RUNTIME_COLUMNS.map((column) => `v.${column} as "${memberOf(column)}"`).join(
  ', ',
);

/** The columns of an insert into `agent_versions`, in the order of `versionValues`. */
export const VERSION_INSERT_COLUMNS = [
  ...['agent_id', 'version', 'bytes', 'created_by', 'created_at'],
  ...RUNTIME_COLUMNS,
];

/** The names are computed once, because every read of a version decodes a row. */
const DECODERS = runtimeFields.map(([name, { columns, decode }]) => ({
  name,
  decode,
  members: columns.map(memberOf),
}));

type RuntimeRow = Record<string, unknown>;

export interface AgentRow extends Omit<AgentWithLevel, 'runtime' | 'exposure'> {
  exposedToMcp: string;
  exposedToOpenai: string;
  exposedToA2a: string;
}

export type VersionRow = Omit<AgentVersion, 'runtime'>;

export function agentFromRow(row: AgentRow): AgentWithLevel {
  const { agentId, name, description, metadata, enabled, visibility } = row;
  const { version, revision, createdBy, createdAt, updatedAt, level } = row;
  const exposure = { mcp: row.exposedToMcp, openai: row.exposedToOpenai, a2a: row.exposedToA2a };
  return {
    ...{ agentId, name, description, runtime: runtimeFromRow(row), metadata, enabled, visibility },
    ...{ exposure, version, revision, createdBy, createdAt, updatedAt, level },
  };
}

export function versionFromRow(row: VersionRow): AgentVersion {
  const { agentId, version, createdBy, createdAt } = row;
  return { agentId, version, runtime: runtimeFromRow(row), createdBy, createdAt };
}

function runtimeFromRow(row: object): AgentRuntime {
  const runtime: Record<string, unknown> = {};
  for (const { name, decode, members } of DECODERS)
    runtime[name] = decode(members.map((member) => (row as RuntimeRow)[member]));
  return runtime as AgentRuntime;
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
  const { mcp, openai, a2a } = agent.exposure;
  const exposure = [mcp, openai, a2a];
  return [name, description, JSON.stringify(metadata), enabled, visibility, version, updatedAt, ...exposure];
}

/** The newest version of the agent and the user who made it, in the order of VERSION_INSERT_COLUMNS. */
export function versionValues({ agentId, version, runtime, updatedAt }: Agent, createdBy: string): unknown[] {
  const bytes = runtimeFields.reduce((sum, [name, { textBytes }]) => sum + textBytes(runtime[name]), 0);
  const values = runtimeFields.flatMap(([name, { encode }]) => encode(runtime[name]));
  return [agentId, version, bytes, createdBy, updatedAt, ...values];
}
