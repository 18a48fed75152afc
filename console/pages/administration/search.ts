import { choiceIn, flagIn, type RawSearch, wordIn } from '../../parts/search.ts';

export const ADMINISTRATION_TABS = ['sandboxes', 'users', 'audit', 'configuration'] as const;
export type AdministrationTab = (typeof ADMINISTRATION_TABS)[number];

/** What an administrator looks at, and through which filters of that tab. */
export interface AdministrationSearch {
  tab?: AdministrationTab | undefined;
  /** Words, of users and of settings. */
  q?: string | undefined;
  /** Sandboxes that have ended, or all. */
  status?: 'ended' | 'all' | undefined;
  /** Settings that somebody has set. */
  set?: true | undefined;
  action?: string | undefined;
  outcome?: 'done' | 'refused' | undefined;
  actor?: string | undefined;
  target?: string | undefined;
  /** RFC 3339. */
  from?: string | undefined;
  until?: string | undefined;
}

export const readAdministrationSearch = (search: RawSearch): AdministrationSearch => ({
  tab: choiceIn(search, 'tab', ADMINISTRATION_TABS),
  q: wordIn(search, 'q'),
  status: choiceIn(search, 'status', ['ended', 'all']),
  set: flagIn(search, 'set'),
  action: wordIn(search, 'action'),
  outcome: choiceIn(search, 'outcome', ['done', 'refused']),
  actor: wordIn(search, 'actor'),
  target: wordIn(search, 'target'),
  from: wordIn(search, 'from'),
  until: wordIn(search, 'until'),
});
