import { type Refusal, refuse } from '../../lib/errors.ts';
import { type Level, requireLevel } from './domain/access.ts';
import { environmentDisabled } from './domain/environment.ts';
import type { Form, Runtime } from './domain/form.ts';
import type { Kind } from './domain/kind.ts';
import { sameOptions } from './domain/options.ts';

/** An agent or an assistant. */
export interface Agent {
  /** agt_… or ast_… */
  agentId: string;
  name: string;
  description: string;
  runtime: Runtime;
  metadata: Record<string, string>;
  enabled: boolean;
  visibility: string;
  /** 1, 2, 3 …: the newest version, whose runtime this is. */
  version: number;
  /** usr_…: the owner. */
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

/** An agent as somebody sees it. */
export type Seen = Agent & { level: Level };

/** One runtime of an agent. It never changes. */
export interface AgentVersion {
  agentId: string;
  version: number;
  runtime: Runtime;
  createdBy: string;
  createdAt: Date;
}

export function newAgent(form: Form, agentId: string, owner: string, now: Date): Agent {
  return {
    ...labelsOf(form),
    agentId,
    runtime: runtimeOf(form),
    version: 1,
    createdBy: owner,
    createdAt: now,
    updatedAt: now,
  };
}

/** The agent after a change: of a new version when its runtime differs, and the very same when nothing does. */
export function changed<Given extends Agent>(agent: Given, patch: Partial<Form>, now: Date): Given {
  const form: Form = { ...agent, ...agent.runtime, ...withoutAbsent(patch) };
  const runtime = runtimeOf(form);
  if (!sameRuntime(runtime, agent.runtime)) {
    return { ...agent, ...labelsOf(form), runtime, version: agent.version + 1, updatedAt: now };
  }
  return sameLabels(form, agent) ? agent : { ...agent, ...labelsOf(form), updatedAt: now };
}

/** All that says whether a session may start. */
export interface Standing {
  version: number;
  level: Level;
  enabled: boolean;
  /** The environment that it would run in is there and enabled. */
  environmentEnabled: boolean;
}

/** What a new session would start with. */
export function runnable({ version, level, enabled, environmentEnabled }: Standing, kind: Kind): number {
  requireLevel(level, 'use', kind);
  if (!enabled) throw refuse('AGENT_NOT_RUNNABLE', `the ${kind.noun} is disabled`);
  if (!environmentEnabled) throw environmentDisabled();
  return version;
}

export function found<Value>(value: Value | undefined, kind: Kind): Value {
  if (value === undefined) throw kind.notFound();
  return value;
}

export function versionNotFound(version: number): Refusal {
  return refuse('AGENT_VERSION_NOT_FOUND', `the agent has no version ${version}`);
}

type Labels = Omit<Form, keyof Runtime>;

/** What can change without a new version. */
function labelsOf({ name, description, metadata, enabled, visibility }: Labels): Labels {
  return { name, description, metadata, enabled, visibility };
}

function runtimeOf(form: Runtime): Runtime {
  const { model, modelOptionsJson, system, environmentId, tools, maxSteps, budget } = form;
  return { model, modelOptionsJson, system, environmentId, tools, maxSteps, budget };
}

function withoutAbsent(patch: Partial<Form>): Partial<Form> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

function sameLabels(one: Labels, other: Labels): boolean {
  return (
    one.name === other.name &&
    one.description === other.description &&
    one.enabled === other.enabled &&
    one.visibility === other.visibility &&
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

function sameRuntime(one: Runtime, other: Runtime): boolean {
  return (
    one.model === other.model &&
    one.system === other.system &&
    one.environmentId === other.environmentId &&
    one.maxSteps === other.maxSteps &&
    one.budget.maxTokens === other.budget.maxTokens &&
    one.budget.maxTurnSeconds === other.budget.maxTurnSeconds &&
    one.tools.length === other.tools.length &&
    one.tools.every((tool, index) => sameTool(tool, other.tools[index])) &&
    sameOptions(one.modelOptionsJson, other.modelOptionsJson)
  );
}

function sameTool(one: Runtime['tools'][number], other: Runtime['tools'][number] | undefined): boolean {
  return one.name === other?.name && one.permission === other.permission;
}
