import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import type { HandlerContext } from './context.ts';

type Methods = Pick<Handlers<AuthServiceDefinition>, 'identify' | 'beginLogin' | 'finishLogin' | 'endLogin'>;

export function loginHandlers({ identify, sources, logins }: HandlerContext): Methods {
  function available() {
    if (!logins) throw refuse('LOGIN_NOT_AVAILABLE', 'in local mode nobody logs in');
    return logins;
  }

  return {
    identify: (request, call) => identify(request, call),

    async beginLogin({ returnTo, address }, call) {
      const opened = available();
      sources.check(address);
      await sources.take(address);
      return opened.begin(returnTo, call);
    },

    async finishLogin(request, call) {
      const opened = available();
      sources.check(request.address);
      try {
        return await opened.finish(request, call);
      } catch (error) {
        if (error instanceof Refusal && error.code === 'LOGIN_FAILED') await sources.take(request.address);
        throw error;
      }
    },

    async endLogin({ login, address = '' }, call) {
      return { endSessionUrl: (await logins?.end(login, address, call)) ?? '' };
    },
  };
}
