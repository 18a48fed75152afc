import type { ReportTurnsRequest } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { RunnerClients } from '../../../services/runner/service.ts';

/** Points at which a runner can be killed: before and after each report to `sessions`, before the dispatch and inside the tool. */
export const CRASH_POINTS = [
  'after claim',
  ...[
    'agent.message',
    'agent.tool_use',
    'agent.tool_dispatched',
    'agent.tool_result',
    'blocked',
    'completed',
  ].flatMap((what) => [`before ${what}`, `after ${what}`]),
  'call is prepared',
  'tool begins',
  'tool is counted',
  'tool is done',
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];
type OnCrashPoint = (point: CrashPoint) => void;

/** Wraps a client of `sessions` and calls `hit` at each crash point. */
export function withCrashPoints(
  sessions: RunnerClients['sessions'],
  hit: OnCrashPoint,
): RunnerClients['sessions'] {
  return {
    ...sessions,
    async claimTurns(request, options) {
      const answer = await sessions.claimTurns(request, options);
      if (answer.turns.length > 0) hit('after claim');
      return answer;
    },
    async reportTurns(request, options) {
      const reported = pointsIn(request);
      for (const what of reported) hit(`before ${what}` as CrashPoint);
      const answer = await sessions.reportTurns(request, options);
      for (const what of reported) hit(`after ${what}` as CrashPoint);
      return answer;
    },
  };
}

function pointsIn({ reports }: ReportTurnsRequest): Set<string> {
  return new Set(
    reports.flatMap(({ events, outcome }) => [
      ...events
        .map(({ type }) => type)
        .filter((type) => (CRASH_POINTS as readonly string[]).includes(`before ${type}`)),
      ...(outcome?.kind && (CRASH_POINTS as readonly string[]).includes(`before ${outcome.kind.$case}`)
        ? [outcome.kind.$case]
        : []),
    ]),
  );
}
