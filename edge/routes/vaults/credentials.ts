import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { list, ok } from '../../envelope.ts';
import { idempotencyKey, ifMatch } from '../../input/headers.ts';
import { type Exchange, route } from '../../route.ts';
import { closed, deleted, id, pageRequest, paging } from '../../schemas/common.ts';
import {
  publicMembersOf,
  secretMembersOf,
  serializeCredential,
  serializeCredentialTest,
} from '../../schemas/vaults/credential-messages.ts';
import {
  CredentialCreationBody,
  CredentialPatchBody,
  CredentialShape,
  CredentialTestShape,
} from '../../schemas/vaults/credentials.ts';
import { etag } from '../etag.ts';
import { replayed } from '../replayed.ts';

const ALL = '/admin/vaults/{vault_id}/credentials';
const ONE = `${ALL}/{credential_id}`;

const credentialRef = ({ param }: Exchange) => ({
  vaultId: param('vault_id'),
  credentialId: param('credential_id'),
});

/** Encrypts the secret members of a body for the vaults service. Undefined when the body has none. */
function sealedSecret(
  sealer: PeerSealer,
  body: Parameters<typeof secretMembersOf>[0],
  method: 'createCredential' | 'updateCredential',
  requestId: string,
) {
  const members = secretMembersOf(body);
  const call = { contract: VaultsServiceDefinition, method, peer: 'vaults', requestId };
  return members && sealer.seal(members, call);
}

export const credentialRoutes = [
  route({
    method: 'POST',
    path: ALL,
    operationId: 'createCredential',
    tag: 'Vaults',
    summary: 'Create a credential',
    description:
      'Requires an administrator. The secret is stored encrypted and never returned. Its destination, type and names cannot be ' +
      'changed later. A credential with `mcp_server_url` serves that MCP server, one with `host` or `allowed_hosts` commands ' +
      'of sandboxes. Personal vaults are refused with FORBIDDEN.',
    headers: ['Idempotency-Key'],
    body: CredentialCreationBody,
    example: {
      type: 'bearer',
      label: 'Production',
      mcp_server_url: 'https://mcp.example.com/mcp',
      token: 'secret',
    },
    success: { status: 201, description: 'The new credential.', data: CredentialShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'VAULT_SEALED'],
    async answer({ clients, sealer, call, param, body, request }) {
      const { credential, replayed: isReplay } = await clients.vaults.createCredential(
        {
          vaultId: param('vault_id'),
          label: body.label ?? '',
          type: body.type,
          mcpServerUrl: 'mcp_server_url' in body ? body.mcp_server_url : undefined,
          host: 'host' in body ? body.host : undefined,
          allowedHosts: 'allowed_hosts' in body ? body.allowed_hosts : [],
          public: publicMembersOf(body),
          secret: sealedSecret(sealer, body, 'createCredential', request.id),
          expiresAt: 'expires_at' in body && body.expires_at ? new Date(body.expires_at) : undefined,
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok(serializeCredential(credential), { ...etag(credential?.revision), ...replayed(isReplay) });
    },
  }),

  route({
    method: 'GET',
    path: ALL,
    operationId: 'listCredentials',
    tag: 'Vaults',
    summary: 'List the credentials of a vault',
    description: 'Requires an administrator. Returns credentials without their secrets, newest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of credentials.', data: CredentialShape, list: true },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const request = { vaultId: param('vault_id'), page: pageRequest(query) };
      const { credentials, page } = await clients.vaults.listCredentials(request, call);
      return list(credentials.map(serializeCredential), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getCredential',
    tag: 'Vaults',
    summary: 'Get a credential',
    description: 'Requires an administrator. The ETag is the `revision` of the credential, for `If-Match`.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The credential.', data: CredentialShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'CREDENTIAL_NOT_FOUND'],
    async answer(exchange) {
      const { clients, call } = exchange;
      const { credential } = await clients.vaults.getCredential(credentialRef(exchange), call);
      return ok(serializeCredential(credential), etag(credential?.revision));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateCredential',
    tag: 'Vaults',
    summary: 'Update a credential',
    description:
      'Requires an administrator. Changes the label, the state or the secret, which is `token`, `value`, `password`, `key` or the ' +
      'tokens and client secret of the type, all together. To change anything else, create another credential. With `If-Match`, the request fails if the credential ' +
      'has changed since.',
    headers: ['If-Match'],
    body: CredentialPatchBody,
    example: { enabled: false },
    success: {
      status: 200,
      description: 'The updated credential.',
      data: CredentialShape,
      headers: ['ETag'],
    },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'CREDENTIAL_NOT_FOUND', 'VAULT_SEALED'],
    async answer(exchange) {
      const { clients, sealer, call, body, request } = exchange;
      const { credential } = await clients.vaults.updateCredential(
        {
          ...credentialRef(exchange),
          label: body.label,
          enabled: body.enabled,
          secret: sealedSecret(sealer, body, 'updateCredential', request.id),
          ifRevisions: ifMatch(request.raw),
        },
        call,
      );
      return ok(serializeCredential(credential), etag(credential?.revision));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteCredential',
    tag: 'Vaults',
    summary: 'Delete a credential',
    description:
      'Requires an administrator. With `If-Match`, the request fails if the credential has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The credential was deleted.',
      data: deleted('credential', id('crd', 'the credential')),
    },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'CREDENTIAL_NOT_FOUND'],
    async answer(exchange) {
      const { clients, call, request } = exchange;
      const credential = credentialRef(exchange);
      await clients.vaults.deleteCredential({ ...credential, ifRevisions: ifMatch(request.raw) }, call);
      return ok({ credential_id: credential.credentialId, deleted: true });
    },
  }),

  route({
    method: 'POST',
    path: `${ONE}/test`,
    operationId: 'testCredential',
    tag: 'Vaults',
    summary: 'Test a credential',
    description:
      'Requires an administrator. Decrypts the secret and, where its type has a check, asks the server. The result is in the ' +
      'response and does not change the status code.',
    success: { status: 200, description: 'The result.', data: CredentialTestShape },
    errors: ['FORBIDDEN', 'VAULT_NOT_FOUND', 'CREDENTIAL_NOT_FOUND', 'VAULT_SEALED'],
    async answer(exchange) {
      const { clients, call } = exchange;
      return ok(serializeCredentialTest(await clients.vaults.testCredential(credentialRef(exchange), call)));
    },
  }),
];
