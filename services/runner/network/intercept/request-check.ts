import type { IncomingMessage } from 'node:http';
import type { HostAddress } from '../../../../lib/host-patterns.ts';
import { normalizeHost } from '../../kernel/network/host-name.ts';
import { ProxyRefusal } from './proxy-refusal.ts';

/**
 * Throws a ProxyRefusal for a request that two programs could read differently, and for one to another host than that of
 * the connection. Node's parser has refused contradictory lengths, folded headers and lines without carriage return.
 */
export function checkRequest(request: IncomingMessage, { host, port }: HostAddress): void {
  const { httpVersion, headers, url = '' } = request;
  const transferEncoding = headers['transfer-encoding'];
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw new ProxyRefusal(400, 'The proxy supports HTTP/1.1.');
  if (httpVersion === '1.0' && transferEncoding !== undefined)
    throw new ProxyRefusal(400, 'HTTP/1.0 has no transfer encoding.');
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked')
    throw new ProxyRefusal(501, 'The proxy supports the transfer encoding chunked only.');
  if (headers.upgrade !== undefined) throw new ProxyRefusal(501, 'The proxy supports no upgrade.');
  if (!url.startsWith('/') && !(url === '*' && request.method === 'OPTIONS'))
    throw new ProxyRefusal(400, 'The target of a request must be a path.');
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length !== 1) throw new ProxyRefusal(400, 'A request must have one Host header.');
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(headers.host ?? '') ?? [];
  if (normalizeHost(name) !== host || (digits !== undefined && Number(digits) !== port))
    throw new ProxyRefusal(403, 'The Host header differs from the host of the connection.');
}
