import type { TSchema } from 'typebox';
import type { Route } from '../route.ts';
import { type Components, collect } from './components.ts';

const HEADER_TEXTS = {
  'Idempotency-Key':
    'The same key for the same request gets the first answer again, for 24 hours. 1–255 visible ASCII characters.',
  'If-Match':
    'The version in double quotes, for example "3". Another version is refused with VERSION_CONFLICT.',
  'If-None-Match': 'Entity tags: when the content has one of them, the answer is 304 without it.',
  'If-Range':
    'The entity tag of the content of which the range is a part. When it has changed, all of it is sent.',
  'Last-Event-ID': 'The id of the last event that was seen; the stream goes on after it.',
  Range: 'One range of bytes, for example `bytes=0-1023`. Several are answered with the whole.',
};

export function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

export function queryParameters(query: Route['query'], components: Components): object[] {
  const required = new Set(query?.required ?? []);
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => {
    const { description, ...shape } = collect(schema, components) as { description?: string };
    return {
      name,
      in: 'query',
      required: required.has(name),
      ...(description ? { description } : {}),
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
