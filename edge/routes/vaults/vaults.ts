import { list, ok } from '../../envelope.ts';
import { idempotencyKey, ifMatch } from '../../input/headers.ts';
import { route } from '../../route.ts';
import { closed, deleted, optional, pageRequest, paging, search } from '../../schemas/common.ts';
import {
  serializeVault,
  VaultCreationBody,
  VaultPatchBody,
  VaultShape,
  vaultId,
  vaultKind,
} from '../../schemas/vaults/vaults.ts';
import { etag } from '../etag.ts';
import { replayed } from '../replayed.ts';

const ONE = '/admin/vaults/{vault_id}';

export const vaultRoutes = [
  route({
    method: 'POST',
    path: '/admin/vaults',
    operationId: 'createVault',
    tag: 'Vaults',
    summary: 'Create a shared vault',
    description:
      'Requires an administrator. Assign the vault to agents and assistants to use its credentials.',
    headers: ['Idempotency-Key'],
    body: VaultCreationBody,
    example: { name: 'Deployment keys' },
    success: { status: 201, description: 'The new vault.', data: VaultShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'NAME_TAKEN'],
    async answer({ clients, call, body, request }) {
      const { name, description = '', enabled = true } = body;
      const { vault, replayed: isReplay } = await clients.vaults.createVault(
        { name, description, enabled, idempotencyKey: idempotencyKey(request.raw) },
        call,
      );
      return ok(serializeVault(vault), { ...etag(vault?.revision), ...replayed(isReplay) });
    },
  }),

  route({
    method: 'GET',
    path: '/admin/vaults',
    operationId: 'listVaults',
    tag: 'Vaults',
    summary: 'List vaults',
    description: 'Requires an administrator. Returns vaults, newest first.',
    query: closed({
      ...paging,
      q: search('Matches a part of the name or description, or an id.'),
      kind: optional(vaultKind),
    }),
    success: { status: 200, description: 'A page of vaults.', data: VaultShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const { vaults, page } = await clients.vaults.listVaults(
        { page: pageRequest(query), q: query.q ?? '', kind: query.kind ?? '' },
        call,
      );
      return list(vaults.map(serializeVault), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getVault',
    tag: 'Vaults',
    summary: 'Get a vault',
    description: 'Requires an administrator. The ETag is the `revision` of the vault, for `If-Match`.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The vault.', data: VaultShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { vault } = await clients.vaults.getVault({ vaultId: param('vault_id') }, call);
      return ok(serializeVault(vault), etag(vault?.revision));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateVault',
    tag: 'Vaults',
    summary: 'Update a vault',
    description:
      'Requires an administrator. Omitted members stay unchanged. The credentials of a disabled vault are not used. With ' +
      '`If-Match`, the request fails if the vault has changed since.',
    headers: ['If-Match'],
    body: VaultPatchBody,
    example: { enabled: false },
    success: { status: 200, description: 'The updated vault.', data: VaultShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'NAME_TAKEN'],
    async answer({ clients, call, param, body, request }) {
      const { name, description, enabled } = body;
      const { vault } = await clients.vaults.updateVault(
        { vaultId: param('vault_id'), name, description, enabled, ifRevisions: ifMatch(request.raw) },
        call,
      );
      return ok(serializeVault(vault), etag(vault?.revision));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteVault',
    tag: 'Vaults',
    summary: 'Delete a vault',
    description:
      'Requires an administrator. Deletes the vault with its credentials and keys. Fails with RESOURCE_IN_USE while the vault ' +
      'is assigned. With `If-Match`, the request fails if the vault has changed since.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The vault was deleted.', data: deleted('vault', vaultId) },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'RESOURCE_IN_USE'],
    async answer({ clients, call, param, request }) {
      const id = param('vault_id');
      await clients.vaults.deleteVault({ vaultId: id, ifRevisions: ifMatch(request.raw) }, call);
      return ok({ vault_id: id, deleted: true });
    },
  }),
];
