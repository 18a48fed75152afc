import { choiceIn, countIn, type RawSearch } from '../../parts/search.ts';

export const ENVIRONMENT_TABS = ['settings', 'versions'] as const;

/** What is looked at of an environment; of its versions, which two are compared. */
export interface EnvironmentSearch {
  tab?: (typeof ENVIRONMENT_TABS)[number] | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

export const readEnvironmentSearch = (search: RawSearch): EnvironmentSearch => ({
  tab: choiceIn(search, 'tab', ENVIRONMENT_TABS),
  from: countIn(search, 'from'),
  to: countIn(search, 'to'),
});
