import { type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { type InvocationLog, invocations } from '../../../../api/invocations.ts';
import type { Invocation, Webhook } from '../../../../gen/index.ts';
import { CopyCurl } from '../../../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../../../parts/curl/use-curl.ts';
import { ErrorAlert, ErrorState, messageOf } from '../../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../../parts/errors/use-query-failure.ts';
import { ButtonLink } from '../../../../parts/navigation/links.tsx';
import { type Column, LongList } from '../../../../parts/resources/long-list.tsx';
import { Badge } from '../../../../ui/badge.tsx';
import { Button } from '../../../../ui/button.tsx';
import { formatBytes } from '../../../../ui/bytes.ts';
import { Card } from '../../../../ui/page.tsx';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import { Time } from '../../../../ui/time.tsx';
import { requests } from '../../requests.ts';
import { InvocationOutcome, RequestId, ResultBadge } from './entry.tsx';
import { useNewRequestAnnouncement } from './use-new-request-announcement.ts';

const COLUMNS: readonly Column<Invocation>[] = [
  { name: 'Time', className: 'w-36', cell: ({ created_at: at }) => <Time at={at} /> },
  { name: 'Result', className: 'w-36', cell: (call) => <ResultBadge {...call} /> },
  {
    name: 'Outcome',
    cell: (call) => (
      <>
        <InvocationOutcome call={call} />
        <RequestId call={call} />
      </>
    ),
  },
  { name: 'Size', className: 'w-24 tabular-nums', cell: ({ size }) => formatBytes(size) },
  {
    name: 'Source',
    className: 'w-40',
    cell: ({ source_address: address }) => <SourceAddress address={address} />,
  },
];

export interface RequestLogProps {
  webhook: Webhook;
  query: UseQueryResult<InvocationLog>;
}

/** Live log of the requests to a webhook. */
export function RequestLog({ webhook, query }: RequestLogProps) {
  const { agent_id: agentId, deployment_id: deploymentId } = webhook;
  const queries = useQueryClient();
  const curlOf = useCurl();
  const failure = useQueryFailure(query);
  const announcement = useNewRequestAnnouncement(query.data);
  const { mutate: readMore, ...reading } = useMutation({
    mutationFn: () => invocations.readOlder(queries, agentId, deploymentId),
  });
  const hasMore = query.data?.next !== undefined;
  const isIdle = !reading.isPending && !reading.isError;
  const onEnd = useCallback(() => {
    if (hasMore && isIdle) readMore();
  }, [hasMore, isIdle, readMore]);
  return (
    <section aria-labelledby="requests" className="mt-6">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 id="requests" className="text-base font-semibold">
          Requests
        </h2>
        <LogStatusBadge query={query} />
        <div className="ms-auto flex flex-wrap gap-2">
          <CopyCurl {...requests.calls(webhook)} about="requests" />
          <ButtonLink to="/sessions" search={{ deployment: deploymentId }} small>
            Started sessions
          </ButtonLink>
        </div>
      </div>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      <Card>
        {failure ? (
          <ErrorState {...failure} curl={curlOf({ ...requests.calls(webhook) })} />
        ) : query.data === undefined ? (
          <Skeleton lines={4} />
        ) : query.data.entries.length === 0 ? (
          <p className="p-6 text-center text-muted">No requests yet.</p>
        ) : (
          <LongList
            label="Requests"
            items={query.data.entries}
            keyOf={({ invocation_id: id }) => id}
            columns={COLUMNS}
            card={(call) => <EntryCard call={call} />}
            more={hasMore}
            onEnd={onEnd}
          />
        )}
        {hasMore && (
          <div className="flex flex-col items-center p-3">
            <ErrorAlert error={reading.error} />
            <Button className="mt-2" busy={reading.isPending} onClick={() => readMore()}>
              Load older requests
            </Button>
          </div>
        )}
      </Card>
    </section>
  );
}

function LogStatusBadge({ query: { error, fetchStatus, data } }: { query: UseQueryResult<InvocationLog> }) {
  if (fetchStatus === 'paused') return <Badge tone="warn">Offline</Badge>;
  if (error && data)
    return (
      <span title={messageOf(error)}>
        <Badge tone="warn">Not up to date</Badge>
      </span>
    );
  return (
    <Badge tone="accent" live>
      Live
    </Badge>
  );
}

function EntryCard({ call }: { call: Invocation }) {
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <ResultBadge {...call} />
        <span className="text-[13px] text-muted">
          <Time at={call.created_at} />
        </span>
      </div>
      <InvocationOutcome call={call} />
      <RequestId call={call} />
      <div className="flex flex-wrap gap-x-3 text-[13px] text-muted">
        <span>{formatBytes(call.size)}</span>
        <SourceAddress address={call.source_address} />
      </div>
    </div>
  );
}

function SourceAddress({ address }: { address: string | null }) {
  return <span className="font-mono text-xs wrap-anywhere">{address ?? 'unknown'}</span>;
}
