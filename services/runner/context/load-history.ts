import type { Client } from '../../../lib/grpc/contract.ts';
import type { Event, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';

const PAGE_SIZE = 100;

/** Reads the history of a turn's session from its journal: the messages, tool results and compactions that a model needs. */
export async function loadHistory(
  { claimed, signal, span }: LeasedTurn,
  { sessions }: { sessions: Pick<Client<SessionsServiceDefinition>, 'listMessages'> },
): Promise<Event[]> {
  const { sessionId } = claimed;
  const events: Event[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = { limit: PAGE_SIZE, cursor };
    const response = await sessions.listMessages({ sessionId, page }, { trace: span.trace, signal });
    events.push(...response.events);
    cursor = response.page?.nextCursor || undefined;
  }
  return events;
}
