import { ok } from '../../envelope.ts';
import { route } from '../../route.ts';
import { RotationBody, RotationShape, serializeRotation } from '../../schemas/vaults/vaults.ts';

export const vaultRotationRoutes = [
  route({
    method: 'POST',
    path: '/admin/vaults/rotate',
    operationId: 'rotateVaultKeys',
    tag: 'Vaults',
    summary: 'Rotate the keys of vaults',
    description:
      'Requires an administrator. Without `vault_id`, the data keys of all vaults are encrypted with the current key-encryption ' +
      'key. With it, that vault gets a new data key and its credentials are encrypted again. Credentials stay usable. While a ' +
      'rotation runs, a second request returns the running one.',
    body: RotationBody,
    bodyOptional: true,
    example: {},
    success: { status: 202, description: 'The rotation.', data: RotationShape },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'VAULT_SEALED'],
    async answer({ clients, call, body }) {
      const { rotation } = await clients.vaults.beginRotation({ vaultId: body.vault_id ?? '' }, call);
      return ok(serializeRotation(rotation));
    },
  }),

  route({
    method: 'GET',
    path: '/admin/vaults/rotations/{rotation_id}',
    operationId: 'getVaultRotation',
    tag: 'Vaults',
    summary: 'Get a rotation of keys',
    description: 'Requires an administrator.',
    success: { status: 200, description: 'The rotation.', data: RotationShape },
    errors: ['FORBIDDEN', 'ROTATION_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { rotation } = await clients.vaults.getRotation({ rotationId: param('rotation_id') }, call);
      return ok(serializeRotation(rotation));
    },
  }),
];
