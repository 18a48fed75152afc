import { Compile } from 'typebox/compile';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Record<string, unknown>;
}

interface Content {
  schema: object;
  example?: unknown;
}

/** An operation of the OpenAPI document, prepared for tests. */
export interface Operation {
  method: string;
  /** From the root, with parameters in braces. */
  path: string;
  operationId: string;
  tags: string[];
  summary: string;
  parameters: Parameter[];
  /** Alternative security requirements. */
  security: object[];
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
  /** The documented error codes by status. */
  errors: Map<number, string[]>;
}

/** An operation in the document. */
interface DocumentedOperation extends Omit<Operation, 'method' | 'path' | 'errors' | 'parameters'> {
  parameters?: Parameter[];
}

interface Document {
  servers: { url: string }[];
  /** Operations by method, and `servers`. */
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, object> };
}

export function operationsOf(document: Document): Operation[] {
  const base = new URL(document.servers[0]?.url ?? '').pathname;
  return Object.entries(document.paths).flatMap(([path, { servers, ...methods }]) =>
    Object.entries(methods).map(([method, documented]) => {
      const operation = { parameters: [], ...(documented as DocumentedOperation) };
      return {
        ...operation,
        method: method.toUpperCase(),
        path: (servers ? '' : base) + path,
        errors: errorsOf(operation),
      };
    }),
  );
}

function errorsOf({ responses }: DocumentedOperation): Map<number, string[]> {
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

/** The differences between a value and its schema, including undocumented members. Empty if it matches. */
export function misfits(document: Document, schema: object, value: unknown): string[] {
  const compiled = Compile(exact(document, schema) as object);
  if (compiled.Check(value)) return [];
  return compiled.Errors(value).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Resolves references and forbids undocumented members. */
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

/** A request body from the example of an operation. */
export function bodyOf({ operationId, requestBody }: Operation): {
  body?: string;
  headers?: Record<string, string>;
} {
  const content = requestBody?.content['application/json'];
  const bytes = requestBody?.content['*/*'];
  if (bytes) return { body: String(bytes.example), headers: { 'Content-Type': 'text/plain' } };
  if (content?.example === undefined) return {};
  // Names of environments are unique.
  const unique = operationId === 'createEnvironment' ? { name: newName() } : {};
  const example = { ...(content.example as object), ...unique };
  return { body: JSON.stringify(example), headers: { 'Content-Type': 'application/json' } };
}

/** The required query of an operation. */
export function queryOf({ operationId, requestBody, parameters }: Operation): string {
  // It requires one of two parameters.
  if (operationId === 'findUsers') return `?id=${OTHER_USER}`;
  const names = parameters.filter(
    (one) => one.in === 'query' && (one.required || requestBody?.content['*/*']),
  );
  return names.map((one) => `?${one.name}=notes.md`).join('');
}

/** The id of a user who is not the caller. */
export const OTHER_USER = `usr_${'A'.repeat(26)}`;

let created = 0;
export function newName(): string {
  created += 1;
  return `environment-${created}`;
}
