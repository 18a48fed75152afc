import { choiceParam, positiveIntegerParam, type RawSearch } from '../../parts/navigation/search-params.ts';

export const AGENT_TABS = [
  'settings',
  'versions',
  'connect',
  'access',
  'extensions',
  'vaults',
  'sessions',
  'deployments',
] as const;
export type AgentTab = (typeof AGENT_TABS)[number];

/** Query parameters of the agent page; `from` and `to` are the compared versions. */
export interface AgentSearch {
  tab?: AgentTab | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

export const readAgentSearch = (search: RawSearch): AgentSearch => ({
  tab: choiceParam(search, 'tab', AGENT_TABS),
  from: positiveIntegerParam(search, 'from'),
  to: positiveIntegerParam(search, 'to'),
});
