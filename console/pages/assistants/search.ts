import { choiceParam, type RawSearch, textParam } from '../../parts/navigation/search-params.ts';

export const ASSISTANT_TABS = ['settings', 'files', 'extensions', 'vaults'] as const;

/** Query parameters of the assistant page. */
export interface AssistantSearch {
  tab?: (typeof ASSISTANT_TABS)[number] | undefined;
  /** Path of a file or folder. */
  path?: string | undefined;
}

export const readAssistantSearch = (search: RawSearch): AssistantSearch => ({
  tab: choiceParam(search, 'tab', ASSISTANT_TABS),
  path: textParam(search, 'path'),
});
