import { choiceParam, flagParam, type RawSearch, textParam } from '../../parts/navigation/search-params.ts';

export const ADMINISTRATION_TABS = ['sandboxes', 'users', 'audit', 'configuration'] as const;
export type AdministrationTab = (typeof ADMINISTRATION_TABS)[number];

/** Query parameters of the administration page: the tab and its filters. */
export interface AdministrationSearch {
  tab?: AdministrationTab | undefined;
  /** Search text for users and settings. */
  q?: string | undefined;
  /** Ended or all sandboxes; existing ones by default. */
  status?: 'ended' | 'all' | undefined;
  /** Only settings that are set explicitly. */
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
  tab: choiceParam(search, 'tab', ADMINISTRATION_TABS),
  q: textParam(search, 'q'),
  status: choiceParam(search, 'status', ['ended', 'all']),
  set: flagParam(search, 'set'),
  action: textParam(search, 'action'),
  outcome: choiceParam(search, 'outcome', ['done', 'refused']),
  actor: textParam(search, 'actor'),
  target: textParam(search, 'target'),
  from: textParam(search, 'from'),
  until: textParam(search, 'until'),
});
