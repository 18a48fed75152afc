import type { FieldProblems } from '../../../lib/field-problems.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Headers of one connection (RFC 9110, section 7.6.1), of the framing of a message, and `Host`. */
const MANAGED = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authenticate', 'proxy-authorization'],
  ...['content-length', 'expect', 'host'],
]);

/** Reports a text that is not the name of a header that a credential can set. */
export function checkHeaderName(pointer: string, name: string, problems: FieldProblems): void {
  if (!TOKEN.test(name)) problems.add(pointer, 'must be the name of a header, of at most 128 characters');
  else if (MANAGED.has(name.toLowerCase()))
    problems.add(pointer, 'must not be a header of the connection, nor Host, Content-Length or Expect');
}
