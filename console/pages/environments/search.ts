import { choiceParam, positiveIntegerParam, type RawSearch } from '../../parts/navigation/search-params.ts';

export const ENVIRONMENT_TABS = ['settings', 'versions'] as const;

/** Query parameters of the environment page; `from` and `to` are the compared versions. */
export interface EnvironmentSearch {
  tab?: (typeof ENVIRONMENT_TABS)[number] | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

export const readEnvironmentSearch = (search: RawSearch): EnvironmentSearch => ({
  tab: choiceParam(search, 'tab', ENVIRONMENT_TABS),
  from: positiveIntegerParam(search, 'from'),
  to: positiveIntegerParam(search, 'to'),
});
