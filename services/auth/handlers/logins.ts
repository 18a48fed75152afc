import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import type { AuthHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AuthServiceDefinition>, 'identify' | 'beginLogin' | 'finishLogin' | 'endLogin'>;

export function loginHandlers({
  identify,
  sourceLimiter: sources,
  logins,
  clock,
}: AuthHandlerContext): Methods {
  function requireLogins() {
    if (!logins) throw refuse('LOGIN_NOT_AVAILABLE', 'Local mode has no logins.');
    return logins;
  }

  return {
    async identify(request, call) {
      // Only the edge knows which endpoint a request addresses.
      const resource = call.peer === 'edge' ? request.resource || undefined : undefined;
      const { validUntil, ...identity } = await identify({ ...request, resource }, call);
      const validForMs = Math.floor(validUntil) - clock.now().getTime();
      return { ...identity, validForMs: validForMs > 0 ? validForMs : undefined };
    },

    async beginLogin({ returnTo, address }, call) {
      const flow = requireLogins();
      sources.check(address);
      await sources.consume(address);
      return flow.begin(returnTo, call);
    },

    async finishLogin(request, call) {
      const flow = requireLogins();
      sources.check(request.address);
      try {
        return await flow.finish(request, call);
      } catch (error) {
        if (error instanceof Refusal && error.code === 'LOGIN_FAILED') await sources.consume(request.address);
        throw error;
      }
    },

    async endLogin({ login, address = '' }, call) {
      return { endSessionUrl: (await logins?.end(login, address, call)) ?? '' };
    },
  };
}
