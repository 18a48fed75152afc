import type { FieldProblems } from '../../../lib/field-problems.ts';
import { pointerSegment } from '../../../lib/field-problems.ts';
import { formatHostPattern } from '../../../lib/host-patterns.ts';
import { readHostPattern } from '../../../lib/hosts.ts';
import type { CredentialType } from './credential.ts';

/** The servers and hosts of a request to create a credential. */
export interface GivenBinding {
  mcpServerUrl: string | undefined;
  host: string | undefined;
  allowedHosts: readonly string[];
}

/** The servers and hosts that a credential is for, as they are stored. */
interface Binding {
  /** Empty for hosts and model providers. */
  mcpServerUrl: string;
  hosts: string[];
}

export interface BindingRules {
  /** Whether the operator permits a private host of this port for outbound requests, which may then use http. */
  isPrivateHost: (host: string, port: number) => boolean;
}

const MAX_URL = 2_048;
const MAX_HOSTS = 16;

/** Reports problems of the servers and hosts of a credential. Returns them in canonical form. */
export function checkBinding(
  type: CredentialType,
  given: GivenBinding,
  rules: BindingRules,
  problems: FieldProblems,
): Binding {
  const { mcpServerUrl, host, allowedHosts } = given;
  const isForHosts = type === 'environment_variable';
  const takesNone = isForHosts || type === 'model_key';
  if (!isForHosts && allowedHosts.length > 0)
    problems.add('/allowed_hosts', `must be absent for the type ${type}`);
  if (takesNone) {
    if (mcpServerUrl !== undefined) problems.add('/mcp_server_url', `must be absent for the type ${type}`);
    if (host !== undefined) problems.add('/host', `must be absent for the type ${type}`);
    return { mcpServerUrl: '', hosts: isForHosts ? checkAllowedHosts(allowedHosts, problems) : [] };
  }
  if (mcpServerUrl !== undefined && host !== undefined) {
    problems.add('/host', 'must be absent when there is an mcp_server_url');
  } else if (mcpServerUrl !== undefined) {
    return { mcpServerUrl: checkServerUrl('/mcp_server_url', mcpServerUrl, rules, problems), hosts: [] };
  } else if (host !== undefined) {
    return { mcpServerUrl: '', hosts: checkHost('/host', host, problems) };
  } else {
    problems.add('/mcp_server_url', 'must be present unless there is a host');
  }
  return { mcpServerUrl: '', hosts: [] };
}

/** Returns the URL in the form in which servers are compared. */
export function checkServerUrl(
  pointer: string,
  text: string,
  { isPrivateHost }: BindingRules,
  problems: FieldProblems,
): string {
  if (!problems.storable(pointer, text)) return '';
  const url = text.length <= MAX_URL && URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'http:';
  if (!url || (!isHttp && url.protocol !== 'https:')) {
    problems.add(pointer, `must be a URL of at most ${MAX_URL} characters that begins with https://`);
    return '';
  }
  if (url.username !== '' || url.password !== '')
    problems.add(pointer, 'must not contain a user name or password');
  if (url.hash !== '' || text.includes('#')) problems.add(pointer, 'must not contain a fragment');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port || (isHttp ? 80 : 443));
  if (!isPrivateHost(host, port)) {
    const pattern = readHostPattern(url.hostname);
    if (isHttp)
      problems.add(
        pointer,
        'must begin with https://, because its host is not in SERVICE_OUTBOUND_PRIVATE_HOSTS',
      );
    else if ('problem' in pattern)
      problems.add(pointer, 'must have a public host, or one of SERVICE_OUTBOUND_PRIVATE_HOSTS');
  }
  return url.href;
}

function checkAllowedHosts(hosts: readonly string[], problems: FieldProblems): string[] {
  if (hosts.length < 1 || hosts.length > MAX_HOSTS) {
    problems.add('/allowed_hosts', `must have 1–${MAX_HOSTS} items`);
    return [];
  }
  const known = hosts.map((host) => host.toLowerCase());
  return hosts.flatMap((host, index) => {
    const pointer = `/allowed_hosts${pointerSegment(index)}`;
    if (known.indexOf(host.toLowerCase()) < index) problems.add(pointer, 'must not repeat an earlier host');
    return checkHost(pointer, host, problems);
  });
}

/** The rules are those of the allowed hosts of environments. Returns the canonical form. */
function checkHost(pointer: string, host: string, problems: FieldProblems): string[] {
  if (!problems.storable(pointer, host)) return [];
  const pattern = readHostPattern(host);
  if (!('problem' in pattern)) return [formatHostPattern(pattern)];
  problems.add(pointer, pattern.problem);
  return [];
}
