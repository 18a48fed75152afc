import { LruCache } from '../../../../lib/lru.ts';
import { ProductError } from '../product-error.ts';
import type { WebApi } from './vendor-clients.ts';

interface Person {
  name: string;
  /** Empty: not confirmed, or not shown to the app. */
  email: string;
}

/** The people of a workspace who are kept until the channel is closed. */
const MAX_PEOPLE = 1_000;
const UNKNOWN: Person = { name: '', email: '' };

/** The names and e-mails of people, which Slack's events do not contain. */
export class SlackPeople {
  readonly #api: WebApi;
  readonly #people = new LruCache<string, Person>(MAX_PEOPLE);

  constructor(api: WebApi) {
    this.#api = api;
  }

  /** Empty members: Slack does not tell, for example without the scope users:read or because of a rate limit. */
  async find(userId: string, signal: AbortSignal): Promise<Person> {
    const known = this.#people.get(userId);
    if (known !== undefined) return known;
    try {
      const { user } = await this.#api.call((client) => client.users.info({ user: userId }), signal);
      const { profile, is_email_confirmed: isConfirmed } = user ?? {};
      const person = {
        name: profile?.display_name || user?.real_name || user?.name || '',
        email: isConfirmed ? (profile?.email ?? '') : '',
      };
      this.#people.set(userId, person);
      return person;
    } catch (error) {
      if (error instanceof ProductError) return UNKNOWN;
      throw error;
    }
  }
}
