import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import type { Trace } from '../../lib/trace.ts';
import { type Administrators, type Claims, type Person, personOf } from './domain/person.ts';
import { isLater, isNews, type User, withoutOutdated } from './domain/user.ts';
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

interface Options {
  trace?: Trace;
}

export type People = ReturnType<typeof createPeople>;

/**
 * Knows users by verified claims, and writes down what is new in them. Undefined where they name nobody. Of several
 * sources, the first one that says something counts.
 */
export function createPeople(context: PeopleContext) {
  const { users, bus, clock, ids, issuer, groupsClaim, administrators } = context;

  async function meet(said: Person, before: User | undefined, options: Options): Promise<User> {
    const person = before ? withoutOutdated(said, before) : said;
    const isNew = !before || isNews(person, before);
    if (!isNew && !isLater(person, before)) return before;
    const user = await users.meet(ids('usr'), issuer, person, clock.now(), options);
    if (isNew) bus.publish('users.changed', user.userId);
    return user;
  }

  return {
    /** Who has just logged in. Whoever is said to be in no group is in none; an address that is not vouched for is none. */
    async loggedIn(sources: readonly Claims[], options: Options): Promise<User | undefined> {
      const person = personOf([...sources, { [groupsClaim]: [] }], groupsClaim, administrators, clock.now());
      if (!person) return undefined;
      const before = await users.bySubject(issuer, person.subject, options);
      return meet({ ...person, email: person.email ?? '' }, before, options);
    },

    /** Who comes with an access token. What it says of somebody known, other than their groups, is for machines. */
    async seen(claims: Claims, options: Options): Promise<User | undefined> {
      const person = personOf([claims], groupsClaim, administrators, clock.now());
      if (!person) return undefined;
      const before = await users.bySubject(issuer, person.subject, options);
      const news = before ? { ...person, displayName: undefined, email: undefined } : person;
      return meet(news, before, options);
    },
  };
}
