import { type Refusal, refuse } from '../../../lib/errors.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';

export interface Vault {
  vaultId: string;
  kind: 'shared' | 'personal';
  /** usr_… of a personal vault; empty for a shared one. */
  ownerId: string;
  /** Empty for a personal vault. */
  name: string;
  description: string;
  enabled: boolean;
  credentialCount: number;
  assignmentCount: number;
  revision: number;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The members of a vault that administrators set. */
export interface VaultForm {
  name: string;
  description: string;
  enabled: boolean;
}

/** Absent members are undefined and do not change. */
export type VaultPatch = { [Member in keyof VaultForm]?: VaultForm[Member] | undefined };

/** Returns the members as they are stored: the name without spaces around it. */
export function normalizeVault<Given extends VaultPatch>(given: Given): Given {
  return given.name === undefined ? given : { ...given, name: given.name.trim() };
}

/** Refused with INVALID_REQUEST or INVALID_TEXT, with details of all problems. */
export function checkVault({ name, description }: VaultPatch): void {
  const problems = new FieldProblems();
  if (name !== undefined) problems.characters('/name', name, 1, 200);
  if (description !== undefined) problems.characters('/description', description, 0, 2_000);
  problems.throwIfAny();
}

/** The filters of a list. */
export function checkFilter({ q, kind }: { q: string; kind: string }): void {
  const problems = new FieldProblems();
  problems.characters('/q', q, 0, 200);
  problems.oneOf('/kind', kind, ['', 'shared', 'personal']);
  problems.throwIfAny();
}

export function newVault(form: VaultForm, vaultId: string, createdBy: string, now: Date): Vault {
  return {
    ...{ vaultId, kind: 'shared', ownerId: '' },
    ...form,
    ...{ credentialCount: 0, assignmentCount: 0, revision: 1, createdBy, createdAt: now, updatedAt: now },
  };
}

/**
 * Returns the same vault if the patch changes nothing. Refused with INVALID_REQUEST for a name or description of a personal
 * vault.
 */
export function applyVaultPatch(vault: Vault, patch: VaultPatch, now: Date): Vault {
  const after = {
    name: patch.name ?? vault.name,
    description: patch.description ?? vault.description,
    enabled: patch.enabled ?? vault.enabled,
  };
  const isRenamed = after.name !== vault.name || after.description !== vault.description;
  if (vault.kind === 'personal' && isRenamed) {
    const problems = new FieldProblems();
    if (after.name !== vault.name) problems.add('/name', 'must be absent for a personal vault');
    if (after.description !== vault.description)
      problems.add('/description', 'must be absent for a personal vault');
    problems.throwIfAny();
  }
  if (!isRenamed && after.enabled === vault.enabled) return vault;
  return { ...vault, ...after, revision: vault.revision + 1, updatedAt: now };
}

/** Refused with RESOURCE_IN_USE while the vault is assigned. */
export function checkUnassigned(vaultId: string, assignments: number): void {
  if (assignments === 0) return;
  const users = assignments === 1 ? '1 agent or assistant' : `${assignments} agents and assistants`;
  throw refuse(
    'RESOURCE_IN_USE',
    `The vault ${vaultId} is assigned to ${users}. Remove it from their vaults first.`,
  );
}

export function vaultNotFound(): Refusal {
  return refuse('VAULT_NOT_FOUND', 'Unknown vault.');
}

export function nameTaken(name: string): Refusal {
  return refuse('NAME_TAKEN', `A vault with the name \`${name}\` already exists.`, {
    details: [{ pointer: '/name', message: 'must be unique; another vault has this name' }],
  });
}
