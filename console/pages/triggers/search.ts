import type { Deployment } from '../../gen/index.ts';
import { choiceParam, type RawSearch, textParam } from '../../parts/navigation/search-params.ts';

export const TRIGGER_STATUSES = ['enabled', 'disabled'] as const;

/** Query parameters of the trigger list. */
export interface TriggersSearch {
  q?: string | undefined;
  status?: Deployment['status'] | undefined;
}

export const readTriggersSearch = (search: RawSearch): TriggersSearch => ({
  q: textParam(search, 'q'),
  status: choiceParam(search, 'status', TRIGGER_STATUSES),
});

export interface NewTriggerSearch {
  /** The preselected agent. */
  agent?: string | undefined;
  /** The trigger to replace, which belongs to `agent`. */
  replaces?: string | undefined;
}

export const readNewTriggerSearch = (search: RawSearch): NewTriggerSearch => ({
  agent: textParam(search, 'agent'),
  replaces: textParam(search, 'replaces'),
});

export const SENDER_LANGUAGES = ['curl', 'node', 'python', 'go'] as const;
export type SenderLanguage = (typeof SENDER_LANGUAGES)[number];

export interface TriggerSearch {
  /** The trigger that this one replaces. */
  replaces?: string | undefined;
  /** The agent of the replaced trigger, if it is a different one. */
  of?: string | undefined;
  /** Language of the example sender. */
  sender?: SenderLanguage | undefined;
}

export const readTriggerSearch = (search: RawSearch): TriggerSearch => ({
  replaces: textParam(search, 'replaces'),
  of: textParam(search, 'of'),
  sender: choiceParam(search, 'sender', SENDER_LANGUAGES),
});
