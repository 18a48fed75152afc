import { FieldProblems } from '../../../lib/field-problems.ts';
import { MCP_SERVER_NAME } from '../../../lib/mcp-catalogue/tool-names.ts';
import { checkOAuth } from './mcp-oauth.ts';
import type { McpServerForm } from './mcp-server.ts';

/** Returns whether requests to a host may use http: because the operator lists it as a private host. */
export type IsPrivateHost = (host: string, port: number) => boolean;

const AUTHORIZATIONS = ['none', 'shared', 'personal', 'any'];
const MAX_URL = 2_048;
const DEFAULT_HTTP_PORT = 80;

/** Returns the form as it is stored: the URL in its normal form. */
export function normalizeMcpServer(form: McpServerForm): McpServerForm {
  const url = form.url.trim();
  return { ...form, url: URL.canParse(url) ? new URL(url).href : url };
}

/**
 * Checks a normalized form, or the members of a patch. Refused with INVALID_REQUEST or INVALID_TEXT, with details of all
 * problems, which contain no part of the URL.
 */
export function checkMcpServer(form: Partial<McpServerForm>, isPrivateHost: IsPrivateHost): void {
  const problems = new FieldProblems();
  const { name, url, transport, description, authorization, timeoutSeconds, availableTo } = form;
  if (name !== undefined && !MCP_SERVER_NAME.test(name))
    problems.add('/name', 'must begin with a–z and be 1–32 of the characters a–z, 0–9 and -');
  if (url !== undefined) checkUrl(url, isPrivateHost, problems);
  if (transport !== undefined) problems.oneOf('/transport', transport, ['streamable_http', 'sse']);
  if (description !== undefined) problems.characters('/description', description, 0, 2_000);
  if (authorization !== undefined) problems.oneOf('/authorization', authorization, AUTHORIZATIONS);
  if (timeoutSeconds !== undefined) problems.range('/timeout_seconds', timeoutSeconds, 1, 600);
  if (availableTo !== undefined) problems.oneOf('/available_to', availableTo, ['managers', 'administrators']);
  if (form.oauth !== undefined) checkOAuth(form.oauth, problems);
  problems.throwIfAny();
}

function checkUrl(text: string, isPrivateHost: IsPrivateHost, problems: FieldProblems): void {
  const pointer = '/url';
  if (!problems.storable(pointer, text)) return;
  if (text.length > MAX_URL || !URL.canParse(text)) {
    problems.add(pointer, `must be a URL of at most ${MAX_URL} characters`);
    return;
  }
  const { protocol, hostname, port, username, password, hash } = new URL(text);
  if (username !== '' || password !== '')
    problems.add(pointer, 'must not contain a user name or password; use a credential');
  if (hash !== '') problems.add(pointer, 'must not have a fragment');
  if (protocol === 'https:') return;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isListed = isPrivateHost(host, port === '' ? DEFAULT_HTTP_PORT : Number(port));
  if (protocol !== 'http:' || !isListed)
    problems.add(
      pointer,
      'must begin with https://; http:// is allowed for the hosts of SERVICE_OUTBOUND_PRIVATE_HOSTS',
    );
}
