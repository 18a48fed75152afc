import { choiceIn, countIn, type RawSearch } from '../../parts/search.ts';

export const AGENT_TABS = ['settings', 'versions', 'access', 'sessions', 'triggers'] as const;
export type AgentTab = (typeof AGENT_TABS)[number];

/** What is looked at of an agent; of its versions, which two are compared. */
export interface AgentSearch {
  tab?: AgentTab | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

export const readAgentSearch = (search: RawSearch): AgentSearch => ({
  tab: choiceIn(search, 'tab', AGENT_TABS),
  from: countIn(search, 'from'),
  to: countIn(search, 'to'),
});
