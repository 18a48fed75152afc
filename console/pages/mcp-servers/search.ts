import { choiceParam, type RawSearch } from '../../parts/navigation/search-params.ts';

export const MCP_SERVER_TABS = ['tools', 'settings'] as const;

/** Query parameters of the page of an MCP server. */
export interface McpServerSearch {
  tab?: (typeof MCP_SERVER_TABS)[number] | undefined;
}

export const readMcpServerSearch = (search: RawSearch): McpServerSearch => ({
  tab: choiceParam(search, 'tab', MCP_SERVER_TABS),
});
