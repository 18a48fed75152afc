import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { CACHE_MAX_AGE_MS } from '../admission.ts';
import type { Channel } from './channel-reader.ts';

/** Time limit of a load, which many calls share. */
const LOAD_MS = 5_000;

interface EmailUsersContext {
  auth: Pick<Client<AuthServiceDefinition>, 'findUsers'>;
  clock: Clock;
}

/** Returns a function that finds the user with a verified e-mail. An address of several users belongs to none. */
export function createEmailUsers({ auth, clock }: EmailUsersContext) {
  const users = createCache<string | undefined>(clock, CACHE_MAX_AGE_MS);

  async function load(
    email: string,
    { createdBy }: Channel,
    { trace, requestId }: Pick<Call, 'trace' | 'requestId'>,
  ): Promise<string | undefined> {
    const found = await auth.findUsers(
      { q: email, userIds: [] },
      {
        caller: { userId: createdBy, roles: ['member'] },
        deadline: clock.now().getTime() + LOAD_MS,
        ...{ trace, requestId },
      },
    );
    const same = found.users.filter((user) => user.email.toLowerCase() === email);
    return same.length === 1 ? same[0]?.userId : undefined;
  }

  return (
    text: string,
    channel: Channel,
    call: Pick<Call, 'trace' | 'requestId'>,
  ): Promise<string | undefined> => {
    const email = text.trim().toLowerCase();
    return email.includes('@')
      ? users.get(email, () => load(email, channel, call))
      : Promise.resolve(undefined);
  };
}
