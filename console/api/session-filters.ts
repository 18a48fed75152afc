import type { SessionState } from './session-state.ts';

/** Filters of the API's session lists. */
export interface SessionFilters {
  q?: string | undefined;
  agent_id?: string | undefined;
  assistant_id?: string | undefined;
  deployment_id?: string | undefined;
  state?: SessionState[] | undefined;
  archived?: boolean | undefined;
}
