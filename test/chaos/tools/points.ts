import type { ReportTurnsRequest } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { RunnerClients } from '../../../services/runner/service.ts';

/** The edges of a tool call, at each of which a runner may die: before and after sessions is told, and in the tool. */
export const POINTS = [
  'after claim',
  ...[
    'agent.message',
    'agent.tool_use',
    'agent.tool_dispatched',
    'agent.tool_result',
    'blocked',
    'completed',
  ].flatMap((what) => [`before ${what}`, `after ${what}`]),
  'tool begins',
  'tool is counted',
  'tool is done',
] as const;

export type Point = (typeof POINTS)[number];
export type Hit = (point: Point) => void;

/** A client of sessions that says where it is. */
export function watched(sessions: RunnerClients['sessions'], hit: Hit): RunnerClients['sessions'] {
  return {
    ...sessions,
    async claimTurns(request, options) {
      const answer = await sessions.claimTurns(request, options);
      if (answer.turns.length > 0) hit('after claim');
      return answer;
    },
    async reportTurns(request, options) {
      const said = saidIn(request);
      for (const what of said) hit(`before ${what}` as Point);
      const answer = await sessions.reportTurns(request, options);
      for (const what of said) hit(`after ${what}` as Point);
      return answer;
    },
  };
}

function saidIn({ reports }: ReportTurnsRequest): Set<string> {
  return new Set(
    reports.flatMap(({ events, outcome }) => [
      ...events
        .map(({ type }) => type)
        .filter((type) => (POINTS as readonly string[]).includes(`before ${type}`)),
      ...(outcome?.kind && (POINTS as readonly string[]).includes(`before ${outcome.kind.$case}`)
        ? [outcome.kind.$case]
        : []),
    ]),
  );
}
