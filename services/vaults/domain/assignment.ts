import { type Refusal, refuse } from '../../../lib/errors.ts';
import { FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { isId } from '../../../lib/ids.ts';
import { vaultNotFound } from './vault.ts';

/** An agent or assistant. */
export interface Target {
  kind: 'agent' | 'assistant';
  id: string;
}

export interface AssignedVault {
  vaultId: string;
  name: string;
  enabled: boolean;
}

/** The vaults of a target in the order in which their credentials count. */
export interface Assignments {
  vaults: AssignedVault[];
  /** 0 before the first change. */
  revision: number;
}

/** A vault that is to be assigned. */
export interface AssignableVault {
  vaultId: string;
  kind: string;
  /** The names of its environment variables. */
  variables: string[];
}

const MAX_VAULTS = 20;

/** Refused with AGENT_NOT_FOUND or ASSISTANT_NOT_FOUND for a malformed id. */
export function checkTarget(target: Target): void {
  if (!isId(target.kind === 'agent' ? 'agt' : 'ast', target.id)) throw targetNotFound(target);
}

export function targetNotFound({ kind }: Pick<Target, 'kind'>): Refusal {
  const message = `Unknown ${kind}. It does not exist, or you do not have access to it.`;
  return refuse(kind === 'agent' ? 'AGENT_NOT_FOUND' : 'ASSISTANT_NOT_FOUND', message);
}

/** Refused with INVALID_REQUEST for too many and repeated ids, and VAULT_NOT_FOUND for malformed ones. */
export function checkVaultIds(vaultIds: readonly string[]): void {
  const problems = new FieldProblems();
  if (vaultIds.length > MAX_VAULTS) problems.add('/vault_ids', `must have at most ${MAX_VAULTS} items`);
  else
    for (const [index, vaultId] of vaultIds.entries())
      if (vaultIds.indexOf(vaultId) < index)
        problems.add(pointerOf(index), 'must not repeat an earlier vault');
  problems.throwIfAny();
  if (!vaultIds.every((vaultId) => isId('vlt', vaultId))) throw vaultNotFound();
}

/**
 * Refused with VAULT_NOT_FOUND for an unknown vault, and INVALID_REQUEST for a personal one and for one with a variable that
 * the environment of the target sets.
 */
export function checkAssignable(
  vaultIds: readonly string[],
  found: readonly AssignableVault[],
  environmentVariables: ReadonlySet<string>,
): void {
  const byId = new Map(found.map((vault) => [vault.vaultId, vault]));
  const problems = new FieldProblems();
  for (const [index, vaultId] of vaultIds.entries()) {
    const vault = byId.get(vaultId);
    if (!vault) throw vaultNotFound();
    if (vault.kind !== 'shared') problems.add(pointerOf(index), 'must not be a personal vault');
    for (const name of vault.variables)
      if (environmentVariables.has(name))
        problems.add(pointerOf(index), `has the variable ${name}, which the environment already sets`);
  }
  problems.throwIfAny();
}

function pointerOf(index: number): string {
  return `/vault_ids${pointerSegment(index)}`;
}
