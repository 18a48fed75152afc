import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import type { HandlerContext } from './context.ts';

type Methods = Pick<Handlers<AuthServiceDefinition>, 'identify' | 'beginLogin' | 'finishLogin' | 'endLogin'>;

export function loginHandlers({ identities }: HandlerContext): Methods {
  return {
    identify: (request, call) => identities.identify(request, call),

    async beginLogin() {
      throw notAvailable();
    },

    async finishLogin() {
      throw notAvailable();
    },

    async endLogin() {
      return { endSessionUrl: '' };
    },
  };
}

function notAvailable() {
  return refuse('LOGIN_NOT_AVAILABLE', 'in local mode nobody logs in');
}
