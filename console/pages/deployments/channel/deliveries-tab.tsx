import { Inbox } from 'lucide-react';
import { useState } from 'react';
import { channels } from '../../../api/channels.ts';
import type { Channel, Delivery } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { useList } from '../../../parts/resources/list.tsx';
import { Listing } from '../../../parts/resources/listing.tsx';
import type { Column } from '../../../parts/resources/long-list.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Select } from '../../../ui/select.tsx';
import { Time } from '../../../ui/time.tsx';
import { requests } from '../requests.ts';
import { SessionLink } from './conversations-tab.tsx';
import { DELIVERY_RESULTS, reasonText } from './labels.ts';

const RESULTS: readonly { value: Delivery['result'] | 'any'; text: string }[] = [
  { value: 'any', text: 'Any result' },
  ...Object.entries(DELIVERY_RESULTS).map(([value, { text }]) => ({
    value: value as Delivery['result'],
    text,
  })),
];

const KINDS: Record<Delivery['kind'], string> = {
  message: 'Message',
  command: 'Command',
  action: 'Button',
  file: 'File',
  other: 'Event',
};

const COLUMNS: readonly Column<Delivery>[] = [
  { name: 'Time', className: 'w-36', cell: ({ created_at: at }) => <Time at={at} /> },
  { name: 'Kind', className: 'w-28', cell: (delivery) => <Kind delivery={delivery} /> },
  { name: 'Sender', className: 'w-44', cell: (delivery) => <Sender delivery={delivery} /> },
  { name: 'Result', className: 'w-28', cell: (delivery) => <Result delivery={delivery} /> },
  { name: 'Reason', cell: ({ reason }) => <span className="wrap-anywhere">{reasonText(reason)}</span> },
  { name: 'Session', className: 'w-24', cell: ({ session_id: id }) => <SessionLink id={id} /> },
];

/** The events of the product, with the reason of each that started nothing. */
export function DeliveriesTab({ channel }: { channel: Channel }) {
  const [result, setResult] = useState<Delivery['result']>();
  const list = useList(channels.deliveries(channel, result));
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap justify-between gap-2">
        <Select
          label="Result"
          value={result ?? 'any'}
          options={RESULTS}
          onChange={(chosen) => setResult(chosen === 'any' ? undefined : chosen)}
        />
        <CopyCurl {...requests.deliveries(channel, result)} about="deliveries" />
      </div>
      <Listing
        noun="deliveries"
        list={list}
        keyOf={({ delivery_id: id }) => id}
        columns={COLUMNS}
        card={(delivery) => (
          <div className="flex flex-col gap-1">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <Result delivery={delivery} />
              <Kind delivery={delivery} />
              <Time at={delivery.created_at} />
              <SessionLink id={delivery.session_id} />
            </div>
            <Sender delivery={delivery} />
            <span className="text-[13px] text-muted wrap-anywhere">{reasonText(delivery.reason)}</span>
          </div>
        )}
        curl={requests.deliveries(channel, result)}
        empty={
          <EmptyState icon={<Inbox />}>
            {result === undefined ? 'No deliveries yet.' : 'No matching deliveries.'}
          </EmptyState>
        }
      />
    </div>
  );
}

function Kind({ delivery: { kind, count } }: { delivery: Delivery }) {
  return (
    <span>
      {KINDS[kind]}
      {count > 1 && <span className="block text-[13px] text-muted">{count.toLocaleString('en')} events</span>}
    </span>
  );
}

function Result({ delivery: { result } }: { delivery: Delivery }) {
  const { text, tone } = DELIVERY_RESULTS[result];
  return (
    <Badge tone={tone} live={result === 'pending'}>
      {text}
    </Badge>
  );
}

function Sender({ delivery: { sender, source_address: address } }: { delivery: Delivery }) {
  if (sender === null) return <span className="text-muted">{address ?? ''}</span>;
  return (
    <span className="block truncate" dir="auto" title={sender.external_id}>
      {sender.name || sender.external_id}
    </span>
  );
}
