import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { rotationNotFound } from '../domain/rotation.ts';
import { vaultNotFound } from '../domain/vault.ts';
import type { VaultsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<VaultsServiceDefinition>, 'beginRotation' | 'getRotation'>;

/** The RPCs for rotations of keys. Only administrators use them. */
export function rotationHandlers(context: VaultsHandlerContext): Methods {
  const { vaults, rotations, keys, record, clock, ids, worker, startRotating } = context;

  return {
    async beginRotation({ vaultId }, call) {
      const { userId: startedBy } = administratorOf(call);
      if (vaultId !== '' && !(await vaults.vault(vaultId, call))) throw vaultNotFound();
      const toKek = vaultId === '' ? await keys.currentKekId() : '';
      await record({ action: 'vault.rotate', targetId: vaultId }, call);
      const start = { rotationId: ids('rot'), vaultId, toKek, worker, startedBy, now: clock.now() };
      const { rotation } = await rotations.begin(start, call);
      startRotating();
      return { rotation };
    },

    async getRotation({ rotationId }, call) {
      administratorOf(call);
      const rotation = await rotations.rotation(rotationId, call);
      if (!rotation) throw rotationNotFound();
      return { rotation };
    },
  };
}
