import type { Run } from '../../../gen/index.ts';
import { classes } from '../../../ui/classes.ts';
import { Card } from '../../../ui/page.tsx';
import { RUN_STATES } from './labels.ts';

const DAYS = 28;
const DAY_MS = 86_400_000;

/** The worst status of a day decides its colour. */
const SEVERITY: readonly Run['status'][] = [
  'failed',
  'missed',
  'interrupted',
  'waiting',
  'running',
  'queued',
  'skipped',
  'cancelled',
  'succeeded',
];

const COLOURS = {
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
  accent: 'bg-accent',
  plain: 'bg-strong-line',
} as const;

interface Day {
  /** Local midnight as Unix milliseconds. */
  start: number;
  counts: Map<Run['status'], number>;
}

const DATE = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

/** The loaded runs of the last four weeks by day, oldest first. */
export function RunStrip({ runs }: { runs: readonly Run[] }) {
  const days = daysOf(runs, new Date());
  return (
    <Card className="p-4">
      <h3 className="text-[13px] text-muted">Last {DAYS} days</h3>
      <ol className="mt-2 flex gap-1">
        {days.map(({ start, counts }) => {
          const text = `${DATE.format(start)}: ${textOf(counts)}`;
          return (
            <li key={start} title={text} className="min-w-0 flex-1">
              <span aria-hidden className={classes('block h-6 rounded-sm', colourOf(counts))} />
              <span className="sr-only">{text}</span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

/** Groups runs by the local day of their scheduled time. */
export function daysOf(runs: readonly Run[], now: Date): Day[] {
  const today = midnight(now);
  const days = Array.from({ length: DAYS }, (_, index) => {
    const start = midnight(new Date(today - (DAYS - 1 - index) * DAY_MS + DAY_MS / 2));
    return { start, counts: new Map<Run['status'], number>() };
  });
  const byStart = new Map(days.map((day) => [day.start, day]));
  for (const run of runs) {
    const day = byStart.get(midnight(new Date(run.scheduled_for ?? run.created_at)));
    day?.counts.set(run.status, (day.counts.get(run.status) ?? 0) + run.count);
  }
  return days;
}

function midnight(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}

function textOf(counts: Day['counts']): string {
  if (counts.size === 0) return 'no runs';
  return [...counts].map(([status, count]) => `${count} ${RUN_STATES[status].text.toLowerCase()}`).join(', ');
}

function colourOf(counts: Day['counts']): string {
  const worst = SEVERITY.find((status) => counts.has(status));
  return worst === undefined ? 'bg-sunken' : COLOURS[RUN_STATES[worst].tone];
}
