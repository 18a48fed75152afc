import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import {
  CreateVaultRequest,
  CreateVaultResponse,
  type VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { checkPage } from '../domain/page.ts';
import {
  applyVaultPatch,
  checkFilter,
  checkVault,
  newVault,
  normalizeVault,
  type Vault,
  vaultNotFound,
} from '../domain/vault.ts';
import type { VaultsHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<VaultsServiceDefinition>,
  'createVault' | 'listVaults' | 'getVault' | 'updateVault' | 'deleteVault'
>;

const NOUN = 'vault';

/** The RPCs for vaults. Only administrators use them. */
export function vaultHandlers(context: VaultsHandlerContext): Methods {
  const { vaults, record, publishHint, clock, ids, digestKey } = context;

  return {
    async createVault(request, call) {
      const { userId } = administratorOf(call);
      const { name, description, enabled, idempotencyKey: key } = request;
      const form = normalizeVault({ name, description, enabled });
      checkVault(form);
      const vault = newVault(form, ids('vlt'), userId, clock.now());
      const creation = {
        key,
        request: CreateVaultRequest.encode({ ...request, idempotencyKey: '' }),
        digestKey,
        answer: CreateVaultResponse.encode({ vault, replayed: false }).finish(),
      };
      await record({ action: 'vault.create', targetId: vault.vaultId, data: { name: vault.name } }, call);
      const { answer, replayed } = await vaults.create(vault, creation, call);
      return { ...CreateVaultResponse.decode(answer), replayed };
    },

    async listVaults({ page, ...filter }, call) {
      const { userId } = administratorOf(call);
      checkFilter(filter);
      const { rows, nextCursor } = await vaults.list(userId, filter, checkPage(page), call);
      return { vaults: rows, page: { nextCursor } };
    },

    async getVault({ vaultId }, call) {
      administratorOf(call);
      const vault = await vaults.vault(vaultId, call);
      if (!vault) throw vaultNotFound();
      return { vault };
    },

    async updateVault({ vaultId, ifRevisions, name, description, enabled }, call) {
      administratorOf(call);
      const patch = normalizeVault({ name, description, enabled });
      checkVault(patch);
      const change = (vault: Vault) => {
        checkRevision(NOUN, vault.revision, ifRevisions);
        return applyVaultPatch(vault, patch, clock.now());
      };
      const changes = Object.entries(patch).flatMap(([member, value]) =>
        value === undefined ? [] : [member],
      );
      await record({ action: 'vault.update', targetId: vaultId, data: { changes } }, call);
      const { after } = await vaults.change(vaultId, change, call);
      publishHint(vaultId);
      return { vault: after };
    },

    async deleteVault({ vaultId, ifRevisions }, call) {
      administratorOf(call);
      const check = ({ revision }: Vault) => checkRevision(NOUN, revision, ifRevisions);
      await record({ action: 'vault.delete', targetId: vaultId }, call);
      await vaults.delete(vaultId, check, call);
      publishHint(vaultId);
      return {};
    },
  };
}
