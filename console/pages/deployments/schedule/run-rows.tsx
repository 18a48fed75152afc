import type { Run, Schedule } from '../../../gen/index.ts';
import { TextLink } from '../../../parts/navigation/links.tsx';
import type { Column } from '../../../parts/resources/long-list.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Time } from '../../../ui/time.tsx';
import { RUN_STATES, reasonOf } from './labels.ts';
import { RunActions } from './run-actions.tsx';

const TRIGGERS: Record<Run['trigger'], string> = {
  scheduled: 'Schedule',
  manual: 'By hand',
  backfill: 'Backfill',
  replay: 'Replay',
};

export const runColumns = (schedule: Schedule): readonly Column<Run>[] => [
  { name: 'Time', className: 'w-44', cell: (run) => <RunTime run={run} /> },
  { name: 'Status', className: 'w-32', cell: (run) => <RunStatus run={run} /> },
  { name: 'Reason', cell: (run) => <span className="wrap-anywhere">{reasonOf(run)}</span> },
  { name: 'Started by', className: 'w-28', cell: ({ trigger }) => TRIGGERS[trigger] },
  { name: 'Late by', className: 'w-24', cell: ({ lateness_ms: ms }) => latenessText(ms) },
  { name: 'Session', className: 'w-28', cell: (run) => <SessionLink run={run} /> },
  {
    name: 'Actions',
    hideName: true,
    className: 'w-16 text-end',
    cell: (run) => <RunActions schedule={schedule} run={run} />,
  },
];

/** A run in the list on narrow screens. */
export function RunCard({ schedule, run }: { schedule: Schedule; run: Run }) {
  return (
    <div className="flex items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <RunTime run={run} />
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <RunStatus run={run} />
          <SessionLink run={run} />
        </div>
        <span className="text-[13px] text-muted wrap-anywhere">{reasonOf(run)}</span>
      </div>
      <RunActions schedule={schedule} run={run} />
    </div>
  );
}

function RunTime({ run: { scheduled_for: scheduled, created_at: created, count } }: { run: Run }) {
  return (
    <span>
      <Time at={scheduled ?? created} />
      {count > 1 && <span className="block text-[13px] text-muted">{count.toLocaleString('en')} times</span>}
    </span>
  );
}

function RunStatus({ run: { status } }: { run: Run }) {
  const { text, tone } = RUN_STATES[status];
  return (
    <Badge tone={tone} live={status === 'running'}>
      {text}
    </Badge>
  );
}

function SessionLink({ run: { session_id: sessionId } }: { run: Run }) {
  if (sessionId === null) return null;
  return (
    <TextLink to="/sessions/$sessionId" params={{ sessionId }}>
      Session
    </TextLink>
  );
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

function latenessText(ms: number | null): string {
  if (ms === null) return '';
  if (ms < SECOND_MS) return `${ms} ms`;
  return ms < MINUTE_MS ? `${(ms / SECOND_MS).toFixed(1)} s` : `${Math.round(ms / MINUTE_MS)} min`;
}
