import type { SessionFilters } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { choiceIn, countIn, flagIn, type RawSearch, wordIn } from '../../parts/search.ts';

export const STATUSES = ['idle', 'pending', 'running', 'rescheduling', 'terminated'] as const;
export const VIEWS = ['chat', 'timeline', 'raw', 'files'] as const;
export type View = (typeof VIEWS)[number];

/** What the list of sessions shows, as it stands in its URL. */
export interface SessionsSearch {
  q?: string | undefined;
  agent?: string | undefined;
  assistant?: string | undefined;
  trigger?: string | undefined;
  status?: Session['status'] | undefined;
  needsAction?: true | undefined;
  archived?: true | undefined;
  /** Those of everybody, for administrators. */
  all?: true | undefined;
}

export const readSessionsSearch = (search: RawSearch): SessionsSearch => ({
  q: wordIn(search, 'q'),
  agent: wordIn(search, 'agent'),
  assistant: wordIn(search, 'assistant'),
  trigger: wordIn(search, 'trigger'),
  status: choiceIn(search, 'status', STATUSES),
  needsAction: flagIn(search, 'needsAction'),
  archived: flagIn(search, 'archived'),
  all: flagIn(search, 'all'),
});

/** What is asked for, as the API names it. */
export const filtersOf = (search: SessionsSearch): SessionFilters => ({
  q: search.q,
  agent_id: search.agent,
  assistant_id: search.assistant,
  deployment_id: search.trigger,
  status: search.status,
  needs_action: search.needsAction,
  archived: search.archived ?? false,
});

/** What is looked at of a session. */
export interface SessionSearch {
  view?: View | undefined;
  /** The seq of an event. */
  event?: number | undefined;
  /** What the raw view shows: the beginning of types, such as `agent.tool`. */
  types?: string | undefined;
  /** A file, or a folder. */
  path?: string | undefined;
}

export const readSessionSearch = (search: RawSearch): SessionSearch => ({
  view: choiceIn(search, 'view', VIEWS),
  event: countIn(search, 'event'),
  types: wordIn(search, 'types'),
  path: wordIn(search, 'path'),
});
