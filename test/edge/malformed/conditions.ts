import fc from 'fast-check';
import { anyHeader, notMatching } from './headers.ts';
import type { Objects } from './objects.ts';
import { JSON_TYPE, type MalformedOperation } from './request-forms.ts';
import type { HttpRequest } from './send.ts';

/** Requests that would change each kind of resource with an ETag. */
const changes = ({ agent, assistant, environment, session }: Objects): HttpRequest[] => {
  const patch = (path: string, body: object) => ({
    ...{ method: 'PATCH', path, headers: JSON_TYPE },
    body: JSON.stringify(body),
  });
  const access = { visibility: 'private', managers: [], users: [], groups: ['a'] };
  return [
    patch(`/agents/${agent}`, { name: 'B' }),
    patch(`/assistants/${assistant}`, { name: 'B' }),
    patch(`/sessions/${session}`, { title: 'B' }),
    patch(`/admin/environments/${environment}`, { variables: { A: 'b' } }),
    { ...patch(`/agents/${agent}/access`, access), method: 'PUT' },
    { method: 'DELETE', path: `/agents/${agent}` },
    { method: 'DELETE', path: `/assistants/${assistant}` },
    { method: 'DELETE', path: `/sessions/${session}` },
    { method: 'DELETE', path: `/admin/environments/${environment}` },
    { method: 'DELETE', path: `/sessions/${session}/files?path=a.txt` },
  ];
};

/** Requests that read resources, lists, files and parts. */
const reads = ({ agent, assistant, environment, session, turn }: Objects): HttpRequest[] =>
  [
    ...[`/agents/${agent}`, `/agents/${agent}/access`, `/assistants/${assistant}`, `/sessions/${session}`],
    ...[`/admin/environments/${environment}`, '/agents', `/sessions/${session}/events`],
    ...[`/sessions/${session}/files/entry?path=a.txt`, `/sessions/${session}/files/content?path=a.txt`],
    ...[`/sessions/${session}/turns/${turn}`, `/sessions/${session}/ai-messages`],
  ].map((path) => ({ method: 'GET', path }));

const withHeaders = (
  requests: readonly HttpRequest[],
  headers: fc.Arbitrary<Record<string, string>>,
): fc.Arbitrary<HttpRequest> =>
  fc
    .tuple(fc.constantFrom(...requests), headers)
    .map(([request, added]) => ({ ...request, headers: { ...request.headers, ...added } }));

export const CONDITIONAL_OPERATIONS: MalformedOperation[] = [
  {
    name: 'If-Match of PATCH, PUT and DELETE',
    requests: (objects) =>
      withHeaders(
        changes(objects),
        notMatching.map((tags) => ({ 'If-Match': tags })),
      ),
  },
  {
    name: 'If-Match and If-None-Match of GET',
    mayRead: true,
    requests: (objects) =>
      withHeaders(
        reads(objects),
        fc
          .tuple(fc.constantFrom('If-Match', 'If-None-Match', 'If-Range', 'Range'), anyHeader)
          .map(([name, value]) => ({ [name]: value })),
      ),
  },
];
