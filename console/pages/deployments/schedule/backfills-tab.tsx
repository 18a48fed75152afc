import { useMutation, useQueryClient } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { runs } from '../../../api/runs.ts';
import type { Backfill, CreatedBackfill, NewBackfill, Schedule } from '../../../gen/index.ts';
import { ActionButton } from '../../../parts/actions/action-button.tsx';
import { useIdempotencyKeys } from '../../../parts/actions/idempotency-key.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { List, useList } from '../../../parts/resources/list.tsx';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Card } from '../../../ui/page.tsx';
import { RadioOptions } from '../../../ui/radio-options.tsx';
import { Time } from '../../../ui/time.tsx';
import { pathOf, requests } from '../requests.ts';
import { instantOf } from './draft.ts';
import { TimeField } from './timing-fields.tsx';

const OVERLAPS = [
  { value: 'buffer_all', text: 'One after the other', about: 'Each run waits for the previous one.' },
  { value: 'allow', text: 'Side by side', about: 'All runs start at once.' },
] as const;

/** Runs for the scheduled times of a range: counted first, then started. */
export function BackfillsTab({ schedule }: { schedule: Schedule }) {
  const curlOf = useCurl();
  const list = useList(runs.backfills(schedule));
  return (
    <div className="flex flex-col gap-4">
      <BackfillForm schedule={schedule} />
      <List
        list={list}
        curl={curlOf(requests.backfills(schedule))}
        empty={
          <EmptyState icon={<History />} curl={curlOf(requests.backfills(schedule))}>
            No backfills yet.
          </EmptyState>
        }
      >
        {(items) => (
          <Card>
            <ul className="divide-y divide-line">
              {items.map((backfill) => (
                <BackfillRow key={backfill.backfill_id} schedule={schedule} backfill={backfill} />
              ))}
            </ul>
          </Card>
        )}
      </List>
    </div>
  );
}

function BackfillForm({ schedule }: { schedule: Schedule }) {
  const [from, setFrom] = useState('');
  const [until, setUntil] = useState('');
  const [overlap, setOverlap] = useState<'allow' | 'buffer_all'>('buffer_all');
  const [counted, setCounted] = useState<{ body: NewBackfill; result: CreatedBackfill }>();
  const queries = useQueryClient();
  const { keyFor, renew } = useIdempotencyKeys();
  const range = { from: instantOf(from), until: instantOf(until) };
  const body = range.from && range.until ? { from: range.from, until: range.until, overlap } : undefined;
  // A count belongs to the values for which it was made.
  const isCounted = counted !== undefined && JSON.stringify(counted.body) === JSON.stringify(body);
  const count = useMutation({
    mutationFn: async (request: NewBackfill) => ({
      body: request,
      result: await runs.backfill(schedule, { ...request, dry_run: true }, ''),
    }),
    onSuccess: setCounted,
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (body) count.mutate(body);
  }
  return (
    <Card className="p-4 sm:p-5">
      <form onSubmit={submit} aria-label="New backfill" className="flex max-w-2xl flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <TimeField label="From" value={from} onChange={setFrom} error={undefined} />
          <TimeField label="Until" value={until} onChange={setUntil} error={undefined} />
        </div>
        <RadioOptions label="Order of the runs" value={overlap} options={OVERLAPS} onChange={setOverlap} />
        <ErrorAlert error={count.error} />
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" busy={count.isPending} disabled={!body}>
            Count times
          </Button>
          <p role="status" className="text-muted">
            {isCounted && `${counted.result.count} times without a run`}
          </p>
          {isCounted && counted.result.count > 0 && (
            <ActionButton
              button={<Button look="primary">Start {counted.result.count} runs</Button>}
              title={`Start ${counted.result.count} runs?`}
              action="Start runs"
              isMild
              run={() => runs.backfill(schedule, counted.body, keyFor(counted.body))}
              curl={{ method: 'POST', path: `${pathOf(schedule)}/backfills`, body: counted.body }}
              done="The runs are queued."
              onDone={() => {
                renew();
                setCounted(undefined);
                return queries.invalidateQueries({ queryKey: ['deployments', schedule.deployment_id] });
              }}
            >
              <p>Each run starts a turn of the agent with the prompt of the schedule.</p>
            </ActionButton>
          )}
        </div>
      </form>
    </Card>
  );
}

function BackfillRow({ schedule, backfill }: { schedule: Schedule; backfill: Backfill }) {
  const queries = useQueryClient();
  const { backfill_id: id, from, until, count, started, finished, cancelled, created_at: at } = backfill;
  const path = `${pathOf(schedule)}/backfills/${id}`;
  const isOpen = started + cancelled < count;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
      <span className="min-w-0 flex-1 basis-64">
        <time dateTime={from}>{from.slice(0, 16).replace('T', ' ')}</time> –{' '}
        <time dateTime={until}>{until.slice(0, 16).replace('T', ' ')}</time> UTC
        <span className="block text-[13px] text-muted">
          {finished} of {count} finished{cancelled > 0 && `, ${cancelled} cancelled`}
        </span>
      </span>
      <Time at={at} />
      <CopyCurl path={path} about="backfill" />
      {isOpen && (
        <ActionButton
          button={<Button small>Cancel</Button>}
          title="Cancel this backfill?"
          action="Cancel backfill"
          run={() => runs.cancelBackfill(schedule, id)}
          curl={{ method: 'DELETE', path }}
          done="The backfill was cancelled."
          onDone={() => queries.invalidateQueries({ queryKey: ['deployments', schedule.deployment_id] })}
        >
          <p>Runs that have not started are cancelled. The others go on.</p>
        </ActionButton>
      )}
    </li>
  );
}
