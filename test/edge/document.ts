import { Compile } from 'typebox/compile';
import { ERRORS, type ErrorCode } from '../../lib/error-codes.ts';
import { field, file, formBody } from './files/form-body.ts';

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
  'x-required-scope'?: string;
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses: Record<string, DocumentedResponse>;
  /** The documented error codes by status, including those of the response `default`. */
  errors: Map<number, string[]>;
}

interface DocumentedResponse {
  description: string;
  headers: Record<string, unknown>;
  content?: Record<string, Content>;
}

type Reference = { $ref: string };

/** An operation in the document. */
interface DocumentedOperation
  extends Omit<Operation, 'method' | 'path' | 'errors' | 'parameters' | 'responses'> {
  parameters: (Parameter | Reference)[];
  responses: Record<string, DocumentedResponse | Reference>;
}

interface Document {
  servers: { url: string }[];
  security: object[];
  /** Operations by method, and `servers`. */
  paths: Record<string, Record<string, unknown>>;
  components: Record<'schemas' | 'responses' | 'parameters' | 'headers', Record<string, object>>;
}

export function operationsOf(document: Document): Operation[] {
  const base = baseOf(document.servers);
  return Object.entries(document.paths).flatMap(([path, { servers, ...methods }]) =>
    Object.entries(methods).map(([method, documented]) => {
      const operation = documented as DocumentedOperation;
      const responses = Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          resolve(document, response),
        ]),
      );
      return {
        ...operation,
        security: operation.security ?? document.security,
        method: method.toUpperCase(),
        path: (servers ? baseOf(servers as Document['servers']) : base) + path,
        parameters: operation.parameters.map((parameter) => resolve(document, parameter)),
        responses,
        errors: errorsOf(responses),
      };
    }),
  );
}

/** The path of the first server, without a trailing slash. */
function baseOf([server]: Document['servers']): string {
  return new URL(server?.url ?? '').pathname.replace(/\/$/, '');
}

function resolve<Part extends object>(document: Document, part: Part | Reference): Part {
  if (!('$ref' in part)) return part;
  const [, , kind, name = ''] = part.$ref.split('/');
  return document.components[kind as keyof Document['components']][name] as Part;
}

interface CodeSchema {
  properties: { code: { enum: string[] } };
}
type EnvelopeSchema = { allOf: [object, CodeSchema] };
type JsonRpcSchema = { properties: { error: { properties: { data: CodeSchema } } } };
type OpenaiSchema = { properties: { error: CodeSchema } };
type A2aDetails = { items: { properties: { reason: { enum: string[] } } } };
type A2aSchema = { properties: { error: { properties: { data: A2aDetails } } } };

function errorsOf(responses: Operation['responses']): Map<number, string[]> {
  const codesOf = ({ content }: DocumentedResponse) => {
    const schema = content?.['application/json']?.schema as
      | EnvelopeSchema
      | JsonRpcSchema
      | OpenaiSchema
      | A2aSchema
      | undefined;
    if (!schema) return [];
    if ('allOf' in schema) return schema.allOf[1].properties.code.enum;
    const { properties } = schema.properties.error;
    if (!('data' in properties)) return properties.code.enum;
    const { data } = properties;
    return 'items' in data ? data.items.properties.reason.enum : data.properties.code.enum;
  };
  const { default: common, ...own } = responses;
  const byStatus = Map.groupBy(common ? codesOf(common) : [], (code) => ERRORS[code as ErrorCode].status);
  for (const [status, response] of Object.entries(own))
    if (Number(status) >= 400) byStatus.set(Number(status), codesOf(response));
  return byStatus;
}

/** Headers of HTTP and those that the introduction of the document lists for every response. */
const GENERAL_HEADERS = [
  ...[
    'cache-control',
    'connection',
    'content-encoding',
    'content-length',
    'content-type',
    'date',
    'keep-alive',
  ],
  ...[
    'transfer-encoding',
    'vary',
    'traceparent',
    'content-security-policy',
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
  ],
  ...['referrer-policy', 'x-content-type-options', 'x-frame-options'],
];

/** The response headers that an operation does not document for a status. */
export function undocumentedHeaders(
  { responses }: Operation,
  status: number,
  headers: Iterable<[string, string]>,
): string[] {
  const documented = Object.keys((responses[status] ?? responses.default)?.headers ?? {});
  const known = new Set([...GENERAL_HEADERS, ...documented.map((name) => name.toLowerCase())]);
  return Array.from(headers, ([name]) => name).filter((name) => !known.has(name));
}

/** Returns a function that tells whether a value matches a schema and has only documented members. */
export function createFit(document: Document, schema: object): (value: unknown) => boolean {
  const compiled = Compile(exact(document, schema) as object);
  return (value) => compiled.Check(value);
}

/** The differences between a value and its schema, including undocumented members. Empty if it matches. */
export function misfits(document: Document, schema: object, value: unknown): string[] {
  const compiled = Compile(exact(document, schema) as object);
  if (compiled.Check(value)) return [];
  return compiled.Errors(value).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** A schema with its references replaced by the components. */
export function resolved(document: Document, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => resolved(document, item));
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema) return resolved(document, resolve(document, schema as Reference));
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, resolved(document, part)]));
}

/** Resolves references and forbids undocumented members. */
function exact(document: Document, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => exact(document, item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { examples: _, ...plain } = schema as Record<string, unknown>;
  if ('$ref' in plain) return exact(document, resolve(document, plain as Reference));
  if (Array.isArray(plain.allOf)) return exact(document, merged(document, plain.allOf));
  const inner = Object.fromEntries(
    Object.entries(plain).map(([name, part]) => [name, exact(document, part)]),
  );
  const isObject = 'properties' in inner && inner.type === 'object' && !('additionalProperties' in inner);
  return isObject ? { ...inner, additionalProperties: false } : inner;
}

/** Object schemas that hold together, as one schema. */
function merged(document: Document, parts: readonly object[]): object {
  const objects = parts.map(
    (part) => resolve(document, part) as { required?: string[]; properties?: object },
  );
  return {
    type: 'object',
    required: [...new Set(objects.flatMap(({ required = [] }) => required))],
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
  };
}

export type { Document };

/** A request body from the example of an operation. */
export function bodyOf({ operationId, requestBody }: Operation): {
  body?: string;
  headers?: Record<string, string>;
} {
  const content = requestBody?.content['application/json'];
  const bytes = requestBody?.content['*/*'];
  const form = requestBody?.content['multipart/form-data'];
  if (form) return formOf(form.example as { path: string; files: string[] });
  const archive = requestBody?.content['application/zip'];
  if (archive) return { body: String(archive.example), headers: { 'Content-Type': 'application/zip' } };
  if (bytes) return { body: String(bytes.example), headers: { 'Content-Type': 'text/plain' } };
  if (content?.example === undefined) return {};
  // Names of environments, vaults and MCP servers are unique.
  const unique = ['createEnvironment', 'createVault', 'createMcpServer'].includes(operationId)
    ? { name: newName() }
    : {};
  const example = { ...(content.example as object), ...unique };
  return { body: JSON.stringify(example), headers: { 'Content-Type': 'application/json' } };
}

function formOf({ path, files }: { path: string; files: string[] }) {
  const parts = [field('path', path), ...files.map((content, index) => file(`file-${index}.md`, content))];
  const { body, headers } = formBody(parts);
  return { body: String(body), headers };
}

/** The required query of an operation. */
export function queryOf({ operationId, parameters }: Operation): string {
  // It requires one of two parameters.
  if (operationId === 'findUsers') return `?id=${OTHER_USER}`;
  const names = parameters.filter((one) => one.in === 'query' && one.required);
  return names.map((one) => `?${one.name}=notes.md`).join('');
}

/** The id of a user who is not the caller. */
export const OTHER_USER = `usr_${'A'.repeat(26)}`;

let created = 0;
export function newName(): string {
  created += 1;
  return `environment-${created}`;
}
