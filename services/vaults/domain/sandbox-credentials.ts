import { byPrecision } from '../../../lib/host-patterns.ts';
import { type HostPattern, readHostPattern } from '../../../lib/hosts.ts';
import type { Credential, VariableMembers } from './credential.ts';
import { headerNames } from './credential-headers.ts';
import type { LendableCredential } from './lending.ts';

/** A credential of an assigned vault that is for hosts, a variable or a model provider. */
export interface AssignedCredential
  extends LendableCredential,
    Pick<Credential, 'type' | 'hosts' | 'publicMembers' | 'statusReason'> {
  /** The place of its vault in the order of the assignments. */
  position: number;
}

export type CredentialState = 'ready' | 'refused' | 'disabled' | 'vault_sealed';

/** A host that a credential is for. */
export interface HostCredential<Assigned> {
  host: string;
  /** In lower case. */
  headers: string[];
  credential: Assigned;
}

/** A variable that a credential gives to sandboxes. */
export interface VariableCredential<Assigned> {
  name: string;
  rules: VariableMembers;
  credential: Assigned;
}

/**
 * Returns the hosts with a credential that proxies attach, in the order in which they count: the first one that matches is
 * used. The order is that of the vaults, then of precision, then of creation. Disabled credentials come last. A host occurs
 * once.
 */
export function hostCredentials<Assigned extends AssignedCredential>(
  credentials: readonly Assigned[],
): HostCredential<Assigned>[] {
  const found = credentials.flatMap((credential) => {
    const [host] = credential.hosts;
    const pattern = host === undefined ? undefined : readHostPattern(host);
    if (host === undefined || !pattern || 'problem' in pattern || isVariable(credential)) return [];
    return [{ host, headers: headerNames(credential), credential, pattern }];
  });
  const ordered = found.toSorted(
    (one, other) => byUse(one.credential, other.credential) || byPattern(one, other),
  );
  return firstOf(ordered, ({ host }) => host).map(({ pattern: _, ...bound }) => bound);
}

/** Returns the variables of the vaults by name. Of several credentials with one name, the first enabled one counts. */
export function variableCredentials<Assigned extends AssignedCredential>(
  credentials: readonly Assigned[],
): VariableCredential<Assigned>[] {
  const found = credentials.flatMap((credential) => {
    const { publicMembers } = credential;
    if (publicMembers?.$case !== 'environmentVariable') return [];
    const { value: rules } = publicMembers;
    return [{ name: rules.name, rules, credential }];
  });
  const ordered = found.toSorted((one, other) => byUse(one.credential, other.credential));
  return firstOf(ordered, ({ name }) => name).toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** The state of a credential for sessions, with the reason for people. */
export function stateOf(
  { isUsable, status, statusReason }: AssignedCredential,
  isSealed: boolean,
): { state: CredentialState; reason: string } {
  if (!isUsable) return { state: 'disabled', reason: 'The credential or its vault is disabled.' };
  if (status !== 'active') return { state: 'refused', reason: statusReason };
  if (isSealed) return { state: 'vault_sealed', reason: 'The key of the vault cannot be opened now.' };
  return { state: 'ready', reason: '' };
}

function isVariable({ publicMembers }: AssignedCredential): boolean {
  return publicMembers?.$case === 'environmentVariable';
}

function byUse(one: AssignedCredential, other: AssignedCredential): number {
  return Number(other.isUsable) - Number(one.isUsable) || one.position - other.position;
}

function byPattern(one: { pattern: HostPattern }, other: { pattern: HostPattern }): number {
  return byPrecision(one.pattern, other.pattern);
}

function firstOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
}
