import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import type { Trace } from '../../lib/trace.ts';
import { type Administrators, type Claims, personOf } from './domain/person.ts';
import { isNews, type User } from './domain/user.ts';
import type { UserStore } from './store/users.ts';

export interface PeopleContext {
  users: Pick<UserStore, 'bySubject' | 'meet'>;
  bus: Bus;
  clock: Clock;
  ids: Ids;
  issuer: string;
  groupsClaim: string;
  administrators: Administrators;
}

/** The user whom verified claims speak of; of several sources, the first one that says something counts. */
export type Meet = (sources: readonly Claims[], options: { trace?: Trace }) => Promise<User | undefined>;

/** Knows users by what the identity provider says of them, and writes that down when it is new. */
export function createPeople(context: PeopleContext): Meet {
  const { users, bus, clock, ids, issuer, groupsClaim, administrators } = context;

  return async (sources, options) => {
    const person = personOf(sources, groupsClaim, administrators);
    if (!person) return undefined;
    const before = await users.bySubject(issuer, person.subject, options);
    if (before && !isNews(person, before)) return before;
    const user = await users.meet(ids('usr'), issuer, person, clock.now(), options);
    bus.publish('users.changed', user.userId);
    return user;
  };
}
