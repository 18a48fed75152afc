import type { FieldProblems } from '../../parts/editor/problems.ts';

export interface VaultDraft {
  name: string;
  description: string;
}

export const EMPTY_VAULT_DRAFT: VaultDraft = { name: '', description: '' };

export function readVaultDraft({ name, description }: VaultDraft) {
  const body = { name: name.trim(), description: description.trim() };
  const problems: FieldProblems = body.name === '' ? { '/name': 'Enter a name.' } : {};
  return { body, problems };
}
