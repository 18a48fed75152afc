import { queryOptions } from '@tanstack/react-query';
import {
  type CreateCredentialData,
  type CreateVaultData,
  createCredential,
  createVault,
  deleteCredential,
  deleteVault,
  getAgentVaults,
  getAssistantVaults,
  getVault,
  getVaultRotation,
  listCredentials,
  listVaults,
  rotateVaultKeys,
  setAgentVaults,
  setAssistantVaults,
  testCredential,
  type UpdateCredentialData,
  type UpdateVaultData,
  updateCredential,
  updateVault,
} from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

const pathOf = (vaultId: string) => ({ path: { vault_id: vaultId } });
const credentialPathOf = (vaultId: string, credentialId: string) => ({
  path: { vault_id: vaultId, credential_id: credentialId },
});
const ifMatch = (revision: number) => ({ 'If-Match': `"${revision}"` });

const ROTATION_POLL_MS = 500;

/** An agent or an assistant. */
export type VaultTarget = { agentId: string } | { assistantId: string };

/** Queries and mutations of vaults, for administrators. Query keys begin with `vaults`. */
export const vaults = {
  list: (q?: string, kind?: 'shared' | 'personal') =>
    pagedQuery(['vaults', 'list', q, kind], (cursor, signal) =>
      unwrapPage(listVaults({ query: { q, kind, cursor }, signal })),
    ),
  detail: (vaultId: string) =>
    queryOptions({
      queryKey: ['vaults', vaultId],
      queryFn: ({ signal }) => unwrapData(getVault({ ...pathOf(vaultId), signal })),
    }),
  create: (body: CreateVaultData['body'], key: string) =>
    unwrapData(createVault({ body, headers: { 'Idempotency-Key': key } })),
  update: (vaultId: string, revision: number, body: UpdateVaultData['body']) =>
    unwrapData(updateVault({ ...pathOf(vaultId), body, headers: ifMatch(revision) })),
  remove: (vaultId: string) => unwrapData(deleteVault(pathOf(vaultId))),

  /** Without a vault, the data keys of all vaults are wrapped again. */
  rotate: (vaultId?: string) =>
    unwrapData(rotateVaultKeys({ body: vaultId === undefined ? {} : { vault_id: vaultId } })),
  rotation: (rotationId: string) =>
    queryOptions({
      queryKey: ['vaults', 'rotations', rotationId],
      queryFn: ({ signal }) => unwrapData(getVaultRotation({ path: { rotation_id: rotationId }, signal })),
      refetchInterval: ({ state }) =>
        state.data === undefined || state.data.status === 'running' ? ROTATION_POLL_MS : false,
    }),

  assignments: (target: VaultTarget) =>
    queryOptions({
      queryKey: ['vaults', 'assignments', target],
      queryFn: ({ signal }) =>
        'agentId' in target
          ? unwrapData(getAgentVaults({ path: { agent_id: target.agentId }, signal }))
          : unwrapData(getAssistantVaults({ path: { assistant_id: target.assistantId }, signal })),
    }),
  /** Without a revision, the change is not conditional: the target has had no assignments yet. */
  assign: (target: VaultTarget, revision: number, vaultIds: string[]) => {
    const request = {
      body: { vault_ids: vaultIds },
      ...(revision > 0 && { headers: ifMatch(revision) }),
    };
    return 'agentId' in target
      ? unwrapData(setAgentVaults({ path: { agent_id: target.agentId }, ...request }))
      : unwrapData(setAssistantVaults({ path: { assistant_id: target.assistantId }, ...request }));
  },
};

/** Queries and mutations of credentials. A body with a secret must not enter a query or mutation cache. */
export const credentials = {
  list: (vaultId: string) =>
    pagedQuery(['vaults', vaultId, 'credentials'], (cursor, signal) =>
      unwrapPage(listCredentials({ ...pathOf(vaultId), query: { cursor }, signal })),
    ),
  create: (vaultId: string, body: CreateCredentialData['body'], key: string) =>
    unwrapData(createCredential({ ...pathOf(vaultId), body, headers: { 'Idempotency-Key': key } })),
  update: (vaultId: string, credentialId: string, revision: number, body: UpdateCredentialData['body']) =>
    unwrapData(
      updateCredential({ ...credentialPathOf(vaultId, credentialId), body, headers: ifMatch(revision) }),
    ),
  remove: (vaultId: string, credentialId: string) =>
    unwrapData(deleteCredential(credentialPathOf(vaultId, credentialId))),
  test: (vaultId: string, credentialId: string) =>
    unwrapData(testCredential(credentialPathOf(vaultId, credentialId))),
};
