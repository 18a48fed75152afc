import type { TSchema } from 'typebox';
import type { Route } from '../route.ts';
import { type Components, collect } from './components.ts';

const HEADER_TEXTS = {
  'Idempotency-Key':
    'Makes a retry safe: a repeated request with the same key returns the first response again, for 24 hours. 1–255 visible ' +
    'ASCII characters.',
  'If-Match':
    'The expected version in double quotes, for example "3". The request fails with VERSION_CONFLICT if the version differs.',
  'If-None-Match':
    'Entity tags. If one of them is the ETag of the content, the response is 304 without the content.',
  'If-Range':
    'The ETag of the content that the range belongs to. If the content has changed, the complete file is returned.',
  'Last-Event-ID': 'The id of the last received event. The stream continues after it.',
  Range: 'One byte range, for example `bytes=0-1023`. Several ranges return the complete file.',
};

export function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

/** `allowEmptyValue` is an OpenAPI keyword of the parameter, not of its JSON Schema. */
interface QuerySchema {
  description?: string;
  allowEmptyValue?: boolean;
}

export function queryParameters(query: Route['query'], components: Components): object[] {
  const required = new Set(query?.required ?? []);
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => {
    const { description, allowEmptyValue, ...shape } = collect(schema, components) as QuerySchema;
    return {
      name,
      in: 'query',
      required: required.has(name),
      ...(description ? { description } : {}),
      ...(allowEmptyValue ? { allowEmptyValue } : {}),
      schema: shape,
    };
  });
}

export function headerParameters(headers: readonly (keyof typeof HEADER_TEXTS)[]): object[] {
  return headers.map((name) => ({
    name,
    in: 'header',
    required: false,
    description: HEADER_TEXTS[name],
    schema: { type: 'string' },
  }));
}
