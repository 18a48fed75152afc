import type { PageInfo } from '../proto/gen/ahs/common/v1/common.ts';

/** The response of a route: the text of the success envelope, and additional headers. */
export interface RouteResponse {
  text: string;
  /** The status. Default: the one that the route declares. */
  status?: number;
  headers?: Record<string, string>;
}

const HEAD = '{"code":"OK","message":"success","data":';

/** A single resource. */
export function ok(data: object, headers?: Record<string, string>): RouteResponse {
  const text = `${HEAD}${JSON.stringify(data)}}`;
  return headers ? { text, headers } : { text };
}

/** A single resource that is already JSON text. The text is not parsed. */
export function okJson(json: string): RouteResponse {
  return { text: `${HEAD}${json}}` };
}

/** A page of a list. */
export function list(items: readonly object[], page: PageInfo | undefined): RouteResponse {
  return { text: `${HEAD}${JSON.stringify(items)},"page":${pageText(page)}}` };
}

/** A page of a list whose items are already JSON text. The text is not parsed. */
export function listOfJson(items: readonly string[], page: PageInfo | undefined): RouteResponse {
  return { text: `${HEAD}[${items.join(',')}],"page":${pageText(page)}}` };
}

function pageText(page: PageInfo | undefined): string {
  const next = page?.nextCursor || null;
  return JSON.stringify({ next_cursor: next, has_more: next !== null });
}
