import type { OpenCall, TurnState } from '../domain/state.ts';

/** The parts of a turn that the column `calls` holds. */
type Requests = Pick<TurnState, 'calls' | 'approval'>;

/** The id of the entry for the approval of the turn itself. Calls have other ids. */
const OWN = '';

/**
 * Returns the JSON text of the open calls. Null for none. The approval of the turn itself is an entry like a call, so that
 * releases that know only calls decide it and queue the turn again.
 */
export function requestsJson({ calls, approval }: Requests): string | null {
  const entries = approval ? [...calls, entryOf(approval)] : calls;
  return entries.length === 0 ? null : JSON.stringify(entries);
}

export function readRequests(json: string | null): Requests {
  if (json === null) return { calls: [], approval: null };
  const entries = JSON.parse(json) as OpenCall[];
  const own = entries.find(({ toolUseId }) => toolUseId === OWN);
  if (!own) return { calls: entries, approval: null };
  const { approvalId = '', eventId = '', decision } = own.approval ?? {};
  const calls = entries.filter((entry) => entry !== own);
  // An earlier release leaves a decided approval in the column.
  return { calls, approval: decision === null ? { approvalId, eventId } : null };
}

function entryOf({ approvalId, eventId }: NonNullable<Requests['approval']>): OpenCall {
  const approval = { approvalId, eventId, kind: 'authorization', dispatches: 0, decision: null } as const;
  return { toolUseId: OWN, name: '', dispatches: 0, approval };
}
