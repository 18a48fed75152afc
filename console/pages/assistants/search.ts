import { choiceIn, type RawSearch, wordIn } from '../../parts/search.ts';

export const ASSISTANT_TABS = ['settings', 'files'] as const;

/** What is looked at of an assistant. */
export interface AssistantSearch {
  tab?: (typeof ASSISTANT_TABS)[number] | undefined;
  /** A file, or a folder. */
  path?: string | undefined;
}

export const readAssistantSearch = (search: RawSearch): AssistantSearch => ({
  tab: choiceIn(search, 'tab', ASSISTANT_TABS),
  path: wordIn(search, 'path'),
});
