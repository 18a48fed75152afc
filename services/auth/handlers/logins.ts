import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import type { HandlerContext } from './context.ts';

type Methods = Pick<Handlers<AuthServiceDefinition>, 'identify' | 'beginLogin' | 'finishLogin' | 'endLogin'>;

export function loginHandlers({ identities, logins }: HandlerContext): Methods {
  function available() {
    if (!logins) throw refuse('LOGIN_NOT_AVAILABLE', 'in local mode nobody logs in');
    return logins;
  }

  return {
    identify: (request, call) => identities.identify(request, call),

    beginLogin: async ({ returnTo }, call) => available().begin(returnTo, call),

    finishLogin: async (request, call) => available().finish(request, call),

    async endLogin({ login, address = '' }, call) {
      return { endSessionUrl: (await logins?.end(login, address, call)) ?? '' };
    },
  };
}
