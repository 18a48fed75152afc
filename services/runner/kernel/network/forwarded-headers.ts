import type { IncomingMessage } from 'node:http';

/** Headers that apply to one connection only (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns names and values, one after the other, without Host and without headers that apply to the connection. */
export function forwardedHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string[] {
  const hopByHop = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === 'connection')
      for (const name of rawHeaders[at + 1]?.split(',') ?? []) hopByHop.add(name.trim().toLowerCase());
  return rawHeaders.flatMap((value, at) => {
    if (at % 2 === 1) return [];
    const name = value.toLowerCase();
    if (name === 'host' || HOP_BY_HOP.has(name) || hopByHop.has(name)) return [];
    return [value, rawHeaders[at + 1] ?? ''];
  });
}
