import { type Refusal, refuse } from '../../../lib/errors.ts';
import { type AccessLevel, requireLevel } from './access.ts';
import type { AgentForm, AgentPatch } from './agent-form.ts';
import type { AgentKind } from './agent-kind.ts';
import { type AgentRuntime, runtimeIn, sameRuntime } from './agent-runtime.ts';
import { environmentDisabled } from './environment.ts';
import { changeExposure, type Exposure, sameExposure } from './exposure.ts';
import { normalizeModels, withFirstModel } from './model-list-field.ts';
import { requireKnownOptions } from './model-options.ts';

/** An agent or an assistant. */
export interface Agent {
  /** agt_… or ast_… */
  agentId: string;
  name: string;
  description: string;
  runtime: AgentRuntime;
  metadata: Record<string, string>;
  enabled: boolean;
  visibility: string;
  exposure: Exposure;
  /** 1, 2, 3 …: the newest version. `runtime` is the runtime of this version. */
  version: number;
  /** Grows with each change of any field. The database counts it. */
  revision: number;
  /** usr_…: the owner. */
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

/** An agent with the access level of the user who reads it. */
export type AgentWithLevel = Agent & { level: AccessLevel };

/** One immutable version of an agent. */
export interface AgentVersion {
  agentId: string;
  version: number;
  runtime: AgentRuntime;
  createdBy: string;
  createdAt: Date;
}

export function newAgent(form: AgentForm, agentId: string, owner: string, now: Date): Agent {
  return {
    ...labelsOf(form),
    agentId,
    runtime: runtimeIn({ ...form, models: normalizeModels(form.models) }),
    version: 1,
    revision: 1,
    createdBy: owner,
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * Returns the agent after a change: with a new version when its runtime differs, and the same object when nothing
 * differs. Refused with INVALID_REQUEST for a new version with options that its model does not know.
 */
export function applyPatch<Given extends Agent>(agent: Given, patch: AgentPatch, now: Date): Given {
  const { exposure, ...fields } = patch;
  const form: AgentForm = {
    ...agent,
    ...agent.runtime,
    ...withoutAbsent(fields),
    exposure: changeExposure(agent.exposure, exposure),
  };
  form.models = fields.models ? normalizeModels(fields.models) : withFirstModel(form.model, form.models);
  const runtime = runtimeIn(form);
  if (!sameRuntime(runtime, agent.runtime)) {
    requireKnownOptions(runtime);
    return { ...agent, ...labelsOf(form), runtime, version: agent.version + 1, updatedAt: now };
  }
  return sameLabels(form, agent) ? agent : { ...agent, ...labelsOf(form), updatedAt: now };
}

/** What anyone can read of an agent whose agent card is public. */
export interface PublicCard {
  agentId: string;
  name: string;
  description: string;
  version: number;
}

/** The facts that decide whether a user can start a session with an agent. */
export interface StartConditions {
  version: number;
  level: AccessLevel;
  enabled: boolean;
  /** The environment of the agent exists and is enabled. */
  environmentEnabled: boolean;
}

/** Returns the version for a new session. Refused with FORBIDDEN, AGENT_NOT_RUNNABLE or ENVIRONMENT_DISABLED. */
export function versionToStart(
  { version, level, enabled, environmentEnabled }: StartConditions,
  kind: AgentKind,
): number {
  requireLevel(level, 'use', kind);
  if (!enabled) throw refuse('AGENT_NOT_RUNNABLE', `The ${kind.noun} is disabled.`);
  if (!environmentEnabled) throw environmentDisabled();
  return version;
}

export function requireFound<Value>(value: Value | undefined, kind: AgentKind): Value {
  if (value === undefined) throw kind.notFound();
  return value;
}

export function versionNotFound(version: number): Refusal {
  return refuse('AGENT_VERSION_NOT_FOUND', `The agent has no version ${version}.`);
}

type Labels = Omit<AgentForm, keyof AgentRuntime>;

/** The fields that change without a new version. */
function labelsOf({ name, description, metadata, enabled, visibility, exposure }: Labels): Labels {
  return { name, description, metadata, enabled, visibility, exposure };
}

function withoutAbsent(patch: Partial<AgentForm>): Partial<AgentForm> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

function sameLabels(one: Labels, other: Labels): boolean {
  return (
    one.name === other.name &&
    one.description === other.description &&
    one.enabled === other.enabled &&
    one.visibility === other.visibility &&
    sameExposure(one.exposure, other.exposure) &&
    sameMetadata(one.metadata, other.metadata)
  );
}

function sameMetadata(one: Labels['metadata'], other: Labels['metadata']): boolean {
  const entries = Object.entries(one);
  return (
    entries.length === Object.keys(other).length &&
    entries.every(([key, value]) => Object.hasOwn(other, key) && other[key] === value)
  );
}
