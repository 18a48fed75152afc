import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { runs } from '../../../api/runs.ts';
import type { SchedulePreview, UpcomingTime } from '../../../gen/index.ts';
import { messageOf } from '../../../parts/errors/error-state.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/page.tsx';

/** A preview is requested when the user has not typed for this long. */
const SETTLE_MS = 250;

const NOTES: Record<NonNullable<UpcomingTime['note']>, string> = {
  shifted: 'Moved: the clock skips this time',
  repeated: 'The clock shows this time twice',
};

/** The meaning of a timing and its next times, as the service computes them. */
export function TimingPreview({ timing }: { timing: SchedulePreview | undefined }) {
  const settled = useSettled(timing);
  const isEnabled = settled !== undefined;
  const preview = useQuery({
    ...runs.preview(settled ?? {}),
    enabled: isEnabled,
    placeholderData: (old) => old,
  });
  return (
    <Card className="p-4">
      <h3 className="font-medium">Next times</h3>
      {settled?.cron && !preview.error && <CronSentence cron={settled.cron} />}
      <div role="status" className="mt-2">
        {preview.error && isEnabled ? (
          <p className="text-bad">{messageOf(preview.error)}</p>
        ) : (
          <TimeList times={preview.data} />
        )}
      </div>
    </Card>
  );
}

/** Times with their wall-clock time, offset and notes on changes of the clock. */
export function TimeList({ times }: { times: readonly UpcomingTime[] | undefined }) {
  if (!times) return <p className="text-muted">Enter a timing to see its next times.</p>;
  if (times.length === 0) return <p className="text-muted">None.</p>;
  return (
    <ol className="flex flex-col gap-1 tabular-nums">
      {times.map(({ scheduled_for: at, local, utc_offset: offset, note }) => (
        <li key={at} className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <time dateTime={at}>
            {weekday(local)} {local.replace('T', ' ')}
          </time>
          <span className="text-[13px] text-muted">UTC{offset}</span>
          {note && <Badge tone="warn">{NOTES[note]}</Badge>}
        </li>
      ))}
    </ol>
  );
}

const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' });

const weekday = (local: string) => WEEKDAY.format(new Date(`${local}Z`));

/** The library of sentences is large, so it loads when a cron expression is shown. */
function CronSentence({ cron }: { cron: string }) {
  const sentence = useQuery({
    queryKey: ['cron-sentence', cron],
    queryFn: async () => {
      const { toString: describe } = await import('cronstrue');
      return describe(cron, { throwExceptionOnParseError: false, use24HourTimeFormat: true });
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return sentence.data ? <p className="mt-1 text-muted">{sentence.data}.</p> : null;
}

/** The last value that has not changed for a moment. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the value is compared by its content
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
