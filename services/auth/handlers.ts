import type { Handlers } from '../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { actHandlers } from './handlers/acts.ts';
import type { HandlerContext } from './handlers/context.ts';
import { loginHandlers } from './handlers/logins.ts';
import { tokenHandlers } from './handlers/tokens.ts';
import { userHandlers } from './handlers/users.ts';

export function createHandlers(context: HandlerContext): Handlers<AuthServiceDefinition> {
  return {
    ...loginHandlers(context),
    ...tokenHandlers(context),
    ...userHandlers(context),
    ...actHandlers(context),
  };
}
