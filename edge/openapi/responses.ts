import { type TSchema, Type } from 'typebox';
import { isRaw, type JsonRoute, type RawResponse, type Route } from '../route.ts';
import { PageShape } from '../schemas/common.ts';
import { type Components, collect, share } from './components.ts';
import { type ResponseHeader, responseHeaders } from './headers.ts';

/** The responses of an operation that are no errors. */
export function successResponses(route: Route, components: Components): Record<string, object> {
  const replayed: ResponseHeader[] = route.headers?.includes('Idempotency-Key')
    ? ['Idempotent-Replayed']
    : [];
  if (isRaw(route)) {
    const responses = Object.entries(route.responses).map(([status, response]) => [
      status,
      rawResponse({ ...response, headers: [...(response.headers ?? []), ...replayed] }, components),
    ]);
    return Object.fromEntries(responses);
  }
  const { status, data, list = false, headers = list ? ['ETag'] : [], alternative } = route.success;
  const respond = (description: string) =>
    jsonResponse({ description, data, list, headers: [...headers, ...replayed] }, components);
  const success = respond(route.success.description);
  const other = alternative && { [alternative.status]: respond(alternative.description) };
  return { [status]: success, ...other, ...(hasTag(route) && { 304: notModified(components) }) };
}

/** Whether the response has an ETag that If-None-Match can name. */
export function hasTag(route: Route): boolean {
  if (isRaw(route) || route.method !== 'GET') return false;
  return route.success.list === true || route.success.headers?.includes('ETag') === true;
}

function notModified(components: Components): object {
  return share(components, 'responses', 'NotModified', {
    description: 'The ETag of the response is one of those in If-None-Match.',
    headers: responseHeaders(['ETag'], components),
  });
}

interface DocumentedJson extends Pick<JsonRoute['success'], 'description' | 'data' | 'list'> {
  headers: readonly ResponseHeader[];
}

/**
 * The responses with a named schema are components. A reference to one has its own description. There is no example: readers
 * compose it from the examples of the members.
 */
function jsonResponse(
  { description, data, list = false, headers }: DocumentedJson,
  components: Components,
): object {
  const schema = successEnvelope(data, list);
  const response = {
    headers: responseHeaders(headers, components),
    content: { 'application/json': { schema: collect(schema, components) } },
  };
  const { title } = data as { title?: string };
  if (!title) return { description, ...response };
  const name = responseName(title, list, headers);
  const described = { description: list ? `A page of type \`${title}\`.` : `One \`${title}\`.`, ...response };
  return { ...share(components, 'responses', name, described), description };
}

/** For example `Agent`, `AgentList` or `AgentWithETag`. */
function responseName(title: string, list: boolean, headers: readonly ResponseHeader[]): string {
  const named = headers.filter((name) => !(list && name === 'ETag')).map((name) => name.replaceAll('-', ''));
  return `${title}${list ? 'List' : ''}${named.length > 0 ? `With${named.join('And')}` : ''}`;
}

function rawResponse(response: RawResponse, components: Components): object {
  const headers = response.headers ?? [];
  if ('data' in response) return jsonResponse({ ...response, headers }, components);
  const { content, description } = response;
  const described = { description, headers: responseHeaders(headers, components) };
  if (!content) return described;
  const collected = Object.entries(content).map(([type, { schema, ...media }]) => [
    type,
    { ...media, schema: collect(schema, components) },
  ]);
  return { ...described, content: Object.fromEntries(collected) };
}

function successEnvelope(data: TSchema, list: boolean): TSchema {
  const outer = { code: Type.Literal('OK'), message: Type.Literal('success') };
  return list
    ? Type.Object({ ...outer, data: Type.Array(data), page: PageShape })
    : Type.Object({ ...outer, data });
}
