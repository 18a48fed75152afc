import { choiceIn, type RawSearch, wordIn } from '../../parts/search.ts';

export const ADMINISTRATION_TABS = ['sandboxes', 'users', 'audit', 'configuration'] as const;

/** What an administrator looks at. The filters are those of the audit log. */
export interface AdministrationSearch {
  tab?: (typeof ADMINISTRATION_TABS)[number] | undefined;
  q?: string | undefined;
  action?: string | undefined;
  outcome?: string | undefined;
  actor?: string | undefined;
  target?: string | undefined;
}

export const readAdministrationSearch = (search: RawSearch): AdministrationSearch => ({
  tab: choiceIn(search, 'tab', ADMINISTRATION_TABS),
  q: wordIn(search, 'q'),
  action: wordIn(search, 'action'),
  outcome: wordIn(search, 'outcome'),
  actor: wordIn(search, 'actor'),
  target: wordIn(search, 'target'),
});
