import { CalendarClock } from 'lucide-react';
import { useMemo, useState } from 'react';
import { runs } from '../../../api/runs.ts';
import type { Run, Schedule } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { useList } from '../../../parts/resources/list.tsx';
import { Listing } from '../../../parts/resources/listing.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Select } from '../../../ui/select.tsx';
import { requests } from '../requests.ts';
import { RunStrip } from './calendar-strip.tsx';
import { RUN_STATES } from './labels.ts';
import { RunCard, runColumns } from './run-rows.tsx';

const STATUSES: readonly { value: Run['status'] | 'any'; text: string }[] = [
  { value: 'any', text: 'Any status' },
  ...Object.entries(RUN_STATES).map(([value, { text }]) => ({ value: value as Run['status'], text })),
];

/** The runs of a schedule as a strip of days and as a list. */
export function RunsTab({ schedule }: { schedule: Schedule }) {
  const [status, setStatus] = useState<Run['status']>();
  const curlOf = useCurl();
  const list = useList(runs.list(schedule, status));
  const columns = useMemo(() => runColumns(schedule), [schedule]);
  return (
    <div className="flex flex-col gap-4">
      {status === undefined && list.items.length > 0 && <RunStrip runs={list.items} />}
      <div className="flex flex-wrap justify-between gap-2">
        <Select
          label="Status"
          value={status ?? 'any'}
          options={STATUSES}
          onChange={(chosen) => setStatus(chosen === 'any' ? undefined : chosen)}
        />
        <CopyCurl {...requests.runs(schedule)} about="runs" />
      </div>
      <Listing
        noun="runs"
        list={list}
        keyOf={({ run_id: id }) => id}
        columns={columns}
        card={(run) => <RunCard schedule={schedule} run={run} />}
        curl={requests.runs(schedule)}
        empty={
          <EmptyState icon={<CalendarClock />} curl={curlOf(requests.run(schedule))}>
            {status === undefined ? 'No runs yet.' : 'No matching runs.'}
          </EmptyState>
        }
      />
    </div>
  );
}
