import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import type { Trace } from '../../lib/trace.ts';
import {
  type Administrators,
  type ProviderProfile,
  readProfile,
  type UserClaims,
} from './domain/provider-profile.ts';
import { hasChanges, hasNewerGroups, type User, withoutOutdatedGroups } from './domain/user.ts';
import type { UserStore } from './store/users.ts';

interface UserSyncContext {
  users: Pick<UserStore, 'bySubject' | 'upsert'>;
  bus: Bus;
  clock: Clock;
  ids: Ids;
  issuer: string;
  groupsClaim: string;
  administrators: Administrators;
}

interface Options {
  trace?: Trace;
}

export type UserSync = ReturnType<typeof createUserSync>;

/**
 * Creates and updates users from verified claims. Both methods return undefined for claims without a valid subject. When
 * several sources have a claim, the first one counts.
 */
export function createUserSync(context: UserSyncContext) {
  const { users, bus, clock, ids, issuer, groupsClaim, administrators } = context;

  async function update(
    received: ProviderProfile,
    before: User | undefined,
    options: Options,
  ): Promise<User> {
    const profile = before ? withoutOutdatedGroups(received, before) : received;
    const isChanged = !before || hasChanges(profile, before);
    if (!isChanged && !hasNewerGroups(profile, before)) return before;
    const user = await users.upsert(ids('usr'), issuer, profile, clock.now(), options);
    if (isChanged) bus.publish('users.changed', user.userId);
    return user;
  }

  return {
    /** Updates the user of a login. A missing groups claim means no groups; an unverified address is dropped. */
    async syncLogin(sources: readonly UserClaims[], options: Options): Promise<User | undefined> {
      const profile = readProfile(
        [...sources, { [groupsClaim]: [] }],
        groupsClaim,
        administrators,
        clock.now(),
      );
      if (!profile) return undefined;
      const before = await users.bySubject(issuer, profile.subject, options);
      return update({ ...profile, email: profile.email ?? '' }, before, options);
    },

    /** Updates the user of an access token. For a known user, only the groups of the token are used. */
    async syncAccessToken(claims: UserClaims, options: Options): Promise<User | undefined> {
      const profile = readProfile([claims], groupsClaim, administrators, clock.now());
      if (!profile) return undefined;
      const before = await users.bySubject(issuer, profile.subject, options);
      const received = before ? { ...profile, displayName: undefined, email: undefined } : profile;
      return update(received, before, options);
    },
  };
}
