import { Refusal } from '../../lib/errors.ts';
import type { CallOptions, Client } from '../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';

/** Looks up users in the auth service. */
export function createUserDirectory(auth: Pick<Client<AuthServiceDefinition>, 'getUser'>) {
  return {
    /** Returns whether a user with this id has ever logged in. */
    async exists(userId: string, options: CallOptions): Promise<boolean> {
      try {
        await auth.getUser({ userId }, options);
        return true;
      } catch (error) {
        if (error instanceof Refusal && error.code === 'USER_NOT_FOUND') return false;
        throw error;
      }
    },
  };
}
