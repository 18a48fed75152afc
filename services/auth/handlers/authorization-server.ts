import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import type { AuthHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AuthServiceDefinition>, 'getAuthorizationServer'>;

export function authorizationServerHandlers({ authorizationServer }: AuthHandlerContext): Methods {
  return {
    async getAuthorizationServer() {
      if (!authorizationServer) return { scopePrefix: '' };
      const { scopePrefix } = authorizationServer;
      return { issuer: await authorizationServer.issuer(), scopePrefix };
    },
  };
}
