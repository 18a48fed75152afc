import type { SessionFilters } from '../../api/session-filters.ts';
import type { SessionState } from '../../api/session-state.ts';
import {
  choiceParam,
  flagParam,
  positiveIntegerParam,
  type RawSearch,
  textParam,
} from '../../parts/navigation/search-params.ts';
import { SESSION_STATES } from '../../parts/sessions/state.ts';

export const VIEWS = ['chat', 'timeline', 'raw', 'files'] as const;
export type SessionView = (typeof VIEWS)[number];

/** Query parameters of the session list. */
export interface SessionsSearch {
  q?: string | undefined;
  agent?: string | undefined;
  assistant?: string | undefined;
  deployment?: string | undefined;
  state?: SessionState | undefined;
  archived?: true | undefined;
  /** Shows the sessions of all users, for administrators. */
  all?: true | undefined;
}

export const readSessionsSearch = (search: RawSearch): SessionsSearch => ({
  q: textParam(search, 'q'),
  agent: textParam(search, 'agent'),
  assistant: textParam(search, 'assistant'),
  deployment: textParam(search, 'deployment'),
  state: choiceParam(search, 'state', SESSION_STATES),
  archived: flagParam(search, 'archived'),
  all: flagParam(search, 'all'),
});

/** Converts the query parameters into API filters. */
export const filtersOf = (search: SessionsSearch): SessionFilters => ({
  q: search.q,
  agent_id: search.agent,
  assistant_id: search.assistant,
  deployment_id: search.deployment,
  state: search.state && [search.state],
  archived: search.archived ?? false,
});

/** Query parameters of the session page. */
export interface SessionSearch {
  view?: SessionView | undefined;
  /** Sequence number of an event. */
  event?: number | undefined;
  /** Type prefix in the raw view, such as `agent.tool`. */
  types?: string | undefined;
  /** Path of a file or folder. */
  path?: string | undefined;
}

export const readSessionSearch = (search: RawSearch): SessionSearch => ({
  view: choiceParam(search, 'view', VIEWS),
  event: positiveIntegerParam(search, 'event'),
  types: textParam(search, 'types'),
  path: textParam(search, 'path'),
});
