import type { Static, TObject } from 'typebox';
import type { AgentRuntime, UpdateAgentRequest } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, flag, Metadata, metadataPatch, nullable, optional, text } from './common.ts';
import { RUNTIME_FIELDS, type RuntimeField } from './runtime-fields.ts';

type Fields = typeof RUNTIME_FIELDS;
type FieldName = keyof Fields;
type Use = keyof RuntimeField['schemas'];
type Schemas<In extends Use> = { [Name in FieldName]: Fields[Name]['schemas'][In] };
/** The members of a body that configure turns. */
type Members<In extends Use> = Static<TObject<Schemas<In>>>;
/** The fields of a message, each with its type in `Message`. */
type FieldsOf<Message extends { [Field in keyof AgentRuntime]?: unknown }> = {
  [Name in FieldName as Fields[Name]['contract']]: Message[Fields[Name]['contract']];
};

/** The rows of the table, without the types that differ from field to field. */
const rows = Object.entries(RUNTIME_FIELDS) as [FieldName, UntypedField][];

interface UntypedField extends Pick<RuntimeField, 'contract' | 'schemas'> {
  initial: unknown;
  encode(value: unknown): unknown;
  wrap(value: unknown): unknown;
  decode(value: unknown, runtime: AgentRuntime | undefined): unknown;
}

export const name = text('The display name.', { minLength: 1, maxLength: 200, examples: ['Echo'] });
export const description = text('A description for users.', {
  maxLength: 2_000,
  examples: ['Says what it hears.'],
});
export const enabled = flag('Whether new sessions can start.');

/** The members of a request that creates an agent or an assistant. */
export const creation = {
  name,
  description: optional(description),
  ...schemasOf('creation'),
  metadata: optional(Metadata),
  enabled: optional(enabled),
};

/** The members of a request that changes an agent or an assistant. */
export const patch = {
  name: optional(name),
  description: optional(nullable(description)),
  ...schemasOf('patch'),
  metadata: optional(nullable(Metadata)),
  enabled: optional(enabled),
};

/** The members of a response that configure turns. */
export const runtime = schemasOf('response');

const Creation = closed(creation);
const Patch = closed(patch);

/** Converts the body of a creation to the request of the service. */
export function created(body: Static<typeof Creation>) {
  return {
    name: body.name,
    description: body.description ?? '',
    runtime: createdRuntime(body),
    metadata: body.metadata ?? {},
    enabled: body.enabled ?? true,
  };
}

/** Converts the body of a change to the request of the service. Omitted members are undefined; null clears a member. */
export function patched(body: Static<typeof Patch>) {
  return {
    name: body.name,
    description: body.description === null ? '' : body.description,
    ...patchedRuntime(body),
    metadata: metadataPatch(body.metadata),
    enabled: body.enabled,
  };
}

export function serializeRuntime(message: AgentRuntime | undefined) {
  const members = rows.map(([name, { contract, decode }]) => [name, decode(message?.[contract], message)]);
  return Object.fromEntries(members) as { [Name in FieldName]: ReturnType<Fields[Name]['decode']> };
}

function createdRuntime(body: Members<'creation'>) {
  const fields = rows.map(([name, { contract, initial, encode }]) => {
    const value = body[name] ?? null;
    return [contract, value === null ? initial : encode(value)];
  });
  return Object.fromEntries(fields) as FieldsOf<AgentRuntime>;
}

function patchedRuntime(body: Members<'patch'>) {
  const fields = rows.map(([name, { contract, initial, encode, wrap }]) => {
    const value = body[name];
    if (value === undefined) return [contract, undefined];
    return [contract, wrap(value === null ? initial : encode(value))];
  });
  return Object.fromEntries(fields) as FieldsOf<UpdateAgentRequest>;
}

function schemasOf<In extends Use>(use: In): Schemas<In> {
  return Object.fromEntries(rows.map(([name, { schemas }]) => [name, schemas[use]])) as Schemas<In>;
}
