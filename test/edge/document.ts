import { Compile } from 'typebox/compile';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Record<string, unknown>;
}

interface Content {
  schema: object;
  example?: unknown;
}

/** One operation of the OpenAPI document, with what a test asks of it. */
export interface Operation {
  method: string;
  /** With parameters in braces, below the origin. */
  path: string;
  operationId: string;
  tags: string[];
  summary: string;
  parameters: Parameter[];
  /** What is needed: one of these. */
  security: object[];
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
  /** The error codes that the document lists, by status. */
  errors: Map<number, string[]>;
}

/** An operation as it stands in the document. */
interface Described extends Omit<Operation, 'method' | 'path' | 'errors' | 'parameters'> {
  parameters?: Parameter[];
}

interface Document {
  servers: { url: string }[];
  /** By method; `servers` stands among them. */
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, object> };
}

export function operationsOf(document: Document): Operation[] {
  const base = new URL(document.servers[0]?.url ?? '').pathname;
  return Object.entries(document.paths).flatMap(([path, { servers, ...methods }]) =>
    Object.entries(methods).map(([method, described]) => {
      const operation = { parameters: [], ...(described as Described) };
      return {
        ...operation,
        method: method.toUpperCase(),
        path: (servers ? '' : base) + path,
        errors: errorsOf(operation),
      };
    }),
  );
}

function errorsOf({ responses }: Described): Map<number, string[]> {
  const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  return new Map(
    failures.map(([status, { content }]) => {
      const schema = content?.['application/json']?.schema as
        | { allOf: [object, { properties: { code: { enum: string[] } } }] }
        | undefined;
      return [Number(status), schema?.allOf[1].properties.code.enum ?? []];
    }),
  );
}

/** What a value has that its schema does not say, or lacks that it says; empty when they fit. */
export function misfits(document: Document, schema: object, value: unknown): string[] {
  const compiled = Compile(exact(document, schema) as object);
  if (compiled.Check(value)) return [];
  return compiled.Errors(value).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** References filled in, and members that are not described forbidden. */
function exact(document: Document, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => exact(document, item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, examples: _, ...plain } = schema as Record<string, unknown>;
  if (typeof $ref === 'string') {
    return exact(document, document.components.schemas[$ref.slice('#/components/schemas/'.length)]);
  }
  const inner = Object.fromEntries(
    Object.entries(plain).map(([name, part]) => [name, exact(document, part)]),
  );
  const isObject = 'properties' in inner && inner.type === 'object' && !('additionalProperties' in inner);
  return isObject ? { ...inner, additionalProperties: false } : inner;
}

export type { Document };

/** The example of an operation, as a request that sends it. */
export function bodyOf({ operationId, requestBody }: Operation): {
  body?: string;
  headers?: Record<string, string>;
} {
  const content = requestBody?.content['application/json'];
  const bytes = requestBody?.content['*/*'];
  if (bytes) return { body: String(bytes.example), headers: { 'Content-Type': 'text/plain' } };
  if (content?.example === undefined) return {};
  // No two of them may have the same name.
  const unique = operationId === 'createEnvironment' ? { name: newName() } : {};
  const example = { ...(content.example as object), ...unique };
  return { body: JSON.stringify(example), headers: { 'Content-Type': 'application/json' } };
}

/** What an operation has to be told in the query. */
export function queryOf({ requestBody, parameters }: Operation): string {
  const names = parameters.filter(
    (one) => one.in === 'query' && (one.required || requestBody?.content['*/*']),
  );
  return names.map((one) => `?${one.name}=notes.md`).join('');
}

let named = 0;
export function newName(): string {
  named += 1;
  return `walk-${named}`;
}
