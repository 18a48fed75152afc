import { formatHostAddress, type HostAddress } from '../../../../lib/host-patterns.ts';
import type { EgressCredentials, EgressLending, EgressNeed } from './egress-credentials.ts';
import {
  checkedHeaderValue,
  findPlaceholders,
  type OutgoingRequest,
  type PlaceholderUse,
  replacePlaceholder,
} from './placeholders.ts';
import { ProxyRefusal } from './proxy-refusal.ts';
import type { RecentSecrets } from './recent-secrets.ts';
import type { SandboxCredentials } from './sandbox-credentials.ts';

/** The credentials that a request will carry. Nothing was lent yet. */
export interface PlannedUse {
  request: OutgoingRequest;
  attached: ReturnType<SandboxCredentials['boundHost']>;
  placeholders: readonly PlaceholderUse[];
}

/** Removes the headers that the proxy sets, and finds the placeholders in the rest. Throws a ProxyRefusal. */
export function planUse(
  request: OutgoingRequest,
  target: HostAddress,
  sandbox: Pick<SandboxCredentials, 'boundHost' | 'variables'>,
): PlannedUse {
  const attached = sandbox.boundHost(target);
  const dropped = attached?.bound.headers ?? [];
  const headers = request.headers.filter(([name]) => !dropped.includes(name.toLowerCase()));
  const kept = { ...request, headers };
  return { request: kept, attached, placeholders: findPlaceholders(kept, sandbox.variables(), target) };
}

/** A request with its credentials. */
export interface AuthenticatedRequest {
  request: OutgoingRequest;
  /** Called when the host has refused the credential in the headers. */
  refused?: (() => void) | undefined;
}

/** Returns the request with its credentials. Throws a ProxyRefusal when one of them is not lent. */
export async function useCredentials(
  { request, attached, placeholders }: PlannedUse,
  address: HostAddress,
  secrets: RecentSecrets,
): Promise<AuthenticatedRequest> {
  const host = formatHostAddress(address);
  let result = request;
  for (const use of placeholders) {
    const { name } = use.variable;
    const { value } = await lend(use.credentials, { host, variable: name }, secrets);
    if (!value) throw new Error('a credential of a variable was lent without a value');
    result = replacePlaceholder(result, use, value.reveal());
  }
  if (!attached) return { request: result };
  const { headers = {}, refused } = await lend(attached.credentials, { host }, secrets);
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const kept = result.headers.filter(([name]) => !names.includes(name.toLowerCase()));
  const set = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    checkedHeaderValue(name, value.reveal()),
  ]);
  return { request: { ...result, headers: [...kept, ...set] }, refused };
}

async function lend(
  credentials: EgressCredentials,
  need: EgressNeed,
  secrets: RecentSecrets,
): Promise<Extract<EgressLending, { kind: 'lent' }>> {
  const lending = await credentials.lend(need);
  if (lending.kind === 'missing') {
    const { reason, isTemporary } = lending;
    const subject =
      need.variable === undefined ? 'The credential of this host' : `The credential ${need.variable}`;
    throw new ProxyRefusal(isTemporary ? 503 : 403, `${subject} ${reason}.`);
  }
  secrets.note(need.host, credentials, lending);
  return lending;
}
