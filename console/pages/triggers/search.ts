import type { Deployment } from '../../gen/index.ts';
import { choiceIn, type RawSearch, wordIn } from '../../parts/search.ts';

export const TRIGGER_STATUSES = ['enabled', 'disabled'] as const;

/** What the list of triggers shows, as it stands in its URL. */
export interface TriggersSearch {
  q?: string | undefined;
  status?: Deployment['status'] | undefined;
}

export const readTriggersSearch = (search: RawSearch): TriggersSearch => ({
  q: wordIn(search, 'q'),
  status: choiceIn(search, 'status', TRIGGER_STATUSES),
});

export interface NewTriggerSearch {
  /** The agent that is chosen already. */
  agent?: string | undefined;
  /** The trigger that the new one takes the place of; it belongs to that agent. */
  replaces?: string | undefined;
}

export const readNewTriggerSearch = (search: RawSearch): NewTriggerSearch => ({
  agent: wordIn(search, 'agent'),
  replaces: wordIn(search, 'replaces'),
});

export const SENDER_LANGUAGES = ['curl', 'node', 'python', 'go'] as const;
export type SenderLanguage = (typeof SENDER_LANGUAGES)[number];

export interface TriggerSearch {
  /** The trigger that this one takes the place of. */
  replaces?: string | undefined;
  /** Its agent, when that is another one. */
  of?: string | undefined;
  /** What the sender is written in. */
  sender?: SenderLanguage | undefined;
}

export const readTriggerSearch = (search: RawSearch): TriggerSearch => ({
  replaces: wordIn(search, 'replaces'),
  of: wordIn(search, 'of'),
  sender: choiceIn(search, 'sender', SENDER_LANGUAGES),
});
