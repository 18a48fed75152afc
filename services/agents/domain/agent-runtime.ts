import type { FieldProblems } from '../../../lib/field-problems.ts';
import { RUNTIME_FIELDS, type RuntimeContext, type RuntimeField } from './runtime-fields.ts';

type Fields = typeof RUNTIME_FIELDS;
type FieldName = keyof Fields;

/** The settings of a turn. A change of one makes a new version of the agent. */
export type AgentRuntime = {
  [Name in FieldName]: Fields[Name] extends RuntimeField<infer Value, never> ? Value : never;
};

/** The runtime fields of an update request; absent fields stay as they are. */
type RuntimePatchMessage = {
  [Name in FieldName]?: Parameters<Fields[Name]['fromPatch']>[0] | undefined;
};

/** The rows of the table, without the types that differ from field to field. */
export const runtimeFields = Object.entries(RUNTIME_FIELDS) as [FieldName, RuntimeField<unknown>][];

/** The runtime of a request to create; missing fields get their initial values. */
export function completeRuntime(given: Partial<AgentRuntime> | undefined): AgentRuntime {
  return build((name, { initial }) => given?.[name] ?? initial);
}

/** The runtime fields of a larger object. */
export function runtimeIn(form: AgentRuntime): AgentRuntime {
  return build((name) => form[name]);
}

/** The runtime fields that an update request contains. */
export function runtimePatchIn(message: RuntimePatchMessage): Partial<AgentRuntime> {
  return mapPresent(message, ({ fromPatch }, value) => fromPatch(value));
}

/** The runtime fields of a form as they are stored. */
export function normalizeRuntime(form: Partial<AgentRuntime>): Partial<AgentRuntime> {
  return mapPresent(form, ({ normalize }, value) => normalize(value));
}

export function checkRuntime(
  form: Partial<AgentRuntime>,
  problems: FieldProblems,
  context: RuntimeContext,
): void {
  for (const [name, { check }] of runtimeFields) {
    const value = form[name];
    if (value !== undefined) check(value, problems, context);
  }
}

export function sameRuntime(one: AgentRuntime, other: AgentRuntime): boolean {
  return runtimeFields.every(([name, { equals }]) => equals(one[name], other[name]));
}

function build(read: (name: FieldName, field: RuntimeField<unknown>) => unknown): AgentRuntime {
  const runtime: Record<string, unknown> = {};
  for (const [name, field] of runtimeFields) runtime[name] = read(name, field);
  return runtime as AgentRuntime;
}

function mapPresent(
  values: RuntimePatchMessage | Partial<AgentRuntime>,
  map: (field: RuntimeField<unknown>, value: unknown) => unknown,
): Partial<AgentRuntime> {
  const mapped: Record<string, unknown> = {};
  for (const [name, field] of runtimeFields) {
    const value = values[name];
    if (value !== undefined) mapped[name] = map(field, value);
  }
  return mapped as Partial<AgentRuntime>;
}
