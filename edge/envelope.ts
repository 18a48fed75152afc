import type { PageInfo } from '../proto/gen/ahs/common/v1/common.ts';

/** What a route answers with: the text of the success envelope, and headers of its own. */
export interface Answer {
  text: string;
  headers?: Record<string, string>;
}

const HEAD = '{"code":"OK","message":"success","data":';

/** One thing. */
export function ok(data: object, headers?: Record<string, string>): Answer {
  const text = `${HEAD}${JSON.stringify(data)}}`;
  return headers ? { text, headers } : { text };
}

/** One thing that is JSON text already: it passes through as it is. */
export function splicedOne(json: string): Answer {
  return { text: `${HEAD}${json}}` };
}

/** One page of a list. */
export function list(items: readonly object[], page: PageInfo | undefined): Answer {
  return { text: `${HEAD}${JSON.stringify(items)},"page":${pageText(page)}}` };
}

/** One page of a list whose items are JSON texts already: they pass through as they are. */
export function spliced(items: readonly string[], page: PageInfo | undefined): Answer {
  return { text: `${HEAD}[${items.join(',')}],"page":${pageText(page)}}` };
}

function pageText(page: PageInfo | undefined): string {
  const next = page?.nextCursor || null;
  return JSON.stringify({ next_cursor: next, has_more: next !== null });
}
