import type { Trace } from '../../../lib/trace.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { CallingTurn } from '../tool-calls/tool-call.ts';

/** The facts about a turn that its tools receive. */
export function callingTurn(
  { claimed, skills }: LeasedTurn,
  trace: Trace,
  environmentId: string,
): CallingTurn {
  const { sessionId, turnId, fence, agentId, ownerId } = claimed;
  return { lease: { sessionId, turnId, fence }, agentId, ownerId, environmentId, skills, trace };
}
