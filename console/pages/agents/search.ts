import { choiceIn, type RawSearch } from '../../parts/search.ts';

export const AGENT_TABS = ['settings', 'versions', 'access', 'sessions', 'triggers'] as const;

export interface AgentSearch {
  tab?: (typeof AGENT_TABS)[number] | undefined;
}

export const readAgentSearch = (search: RawSearch): AgentSearch => ({
  tab: choiceIn(search, 'tab', AGENT_TABS),
});
