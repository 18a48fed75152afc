import { FieldProblems } from '../../../lib/field-problems.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { readSecrets } from '../domain/secret-form.ts';
import type { VaultsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<VaultsServiceDefinition>, 'putOAuthClient' | 'deleteOAuthClient'>;

/** The RPCs for the OAuth clients that administrators register. Agents calls them after its own checks. */
export function oauthClientHandlers({ peerSealer, issuerClients }: VaultsHandlerContext): Methods {
  return {
    async putOAuthClient({ mcpServerId, issuer, clientId, secret: box }, { requestId }) {
      const call = {
        contract: VaultsServiceDefinition,
        method: 'putOAuthClient',
        peer: 'agents',
        requestId,
      } as const;
      const problems = new FieldProblems();
      const secrets = readSecrets('oauth2_client', secretsIn(peerSealer.open(box, call)), problems);
      problems.throwIfAny();
      if (secrets) await issuerClients.putRegistered({ mcpServerId, issuer, clientId }, secrets.described);
      return {};
    },

    async deleteOAuthClient({ mcpServerId }) {
      await issuerClients.deleteRegistered(mcpServerId);
      return {};
    },
  };
}
