import { Type } from 'typebox';
import type { AssignedVault, Rotation, Vault } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import {
  closed,
  count,
  flag,
  id,
  NULL,
  nullable,
  optional,
  revision,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
} from '../common.ts';

export const vaultId = id('vlt', 'the vault');

const name = text('A unique name.', { minLength: 1, maxLength: 100, examples: ['Deployment keys'] });
const description = text('A description for administrators.', { maxLength: 1_000, examples: [''] });
const enabled = flag('Whether the credentials of the vault are used.');

export const VaultCreationBody = closed({
  name,
  description: optional(description),
  enabled: optional(enabled),
});
export const VaultPatchBody = closed({
  name: optional(name),
  description: optional(description),
  enabled: optional(enabled),
});

export const vaultKind = Type.Enum(['shared', 'personal'], {
  description:
    '`shared`: made by administrators for agents and assistants. `personal`: the connections of one user.',
});

export const VaultShape = Type.Object(
  {
    vault_id: vaultId,
    kind: vaultKind,
    name: text('The name; empty for a personal vault.', { examples: ['Deployment keys'] }),
    description,
    enabled,
    credential_count: count('The number of credentials.', 0),
    assignment_count: count('The number of agents and assistants that the vault is assigned to.', 0),
    revision,
    created_by: id('usr', 'the user who created it'),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last change.'),
  },
  { title: 'Vault', description: 'A set of credentials. No response contains their secrets.' },
);

export function serializeVault(vault: Vault | undefined) {
  return {
    vault_id: vault?.vaultId,
    kind: vault?.kind,
    name: vault?.name,
    description: vault?.description,
    enabled: vault?.enabled,
    credential_count: vault?.credentialCount,
    assignment_count: vault?.assignmentCount,
    revision: vault?.revision,
    created_by: vault?.createdBy,
    created_at: serializeTime(vault?.createdAt),
    updated_at: serializeTime(vault?.updatedAt),
  };
}

const vaultIds = Type.Array(vaultId, {
  maxItems: 20,
  description: 'Shared vaults in the order in which their credentials count. The first match is used.',
});

export const AssignmentsBody = closed({ vault_ids: vaultIds });
export const AssignmentsShape = Type.Object(
  {
    vault_ids: vaultIds,
    vaults: Type.Array(Type.Object({ vault_id: vaultId, name, enabled }), {
      description: 'The same vaults with their names and states.',
    }),
    revision,
  },
  { title: 'VaultAssignments' },
);

export function serializeAssignments(assignments: { vaults: readonly AssignedVault[]; revision: number }) {
  return {
    vault_ids: assignments.vaults.map((vault) => vault.vaultId),
    vaults: assignments.vaults.map((vault) => ({
      vault_id: vault.vaultId,
      name: vault.name,
      enabled: vault.enabled,
    })),
    revision: assignments.revision,
  };
}

export const RotationBody = closed({ vault_id: optional(vaultId) });
export const RotationShape = Type.Object(
  {
    rotation_id: id('rot', 'the rotation'),
    vault_id: nullable(
      id(
        'vlt',
        'the vault whose credentials get a new data key; null: the data keys of all vaults are wrapped again',
      ),
      NULL,
    ),
    status: Type.Enum(['running', 'done', 'failed'], { description: 'The state of the rotation.' }),
    done: count('The data keys or credentials that are done.', 0),
    total: count('The number of data keys or credentials.'),
    started_at: time('The time of the start.'),
    finished_at: nullable(time('The time of the end; null while it runs.'), NULL),
  },
  { title: 'VaultRotation' },
);

export function serializeRotation(rotation: Rotation | undefined) {
  return {
    rotation_id: rotation?.rotationId,
    vault_id: rotation?.vaultId || null,
    status: rotation?.status,
    done: rotation?.done,
    total: rotation?.total,
    started_at: serializeTime(rotation?.startedAt),
    finished_at: serializeTimeOrNull(rotation?.finishedAt),
  };
}
