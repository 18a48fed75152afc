import { useQuery } from '@tanstack/react-query';
import { Settings } from 'lucide-react';
import { configuration } from '../../api/configuration.ts';
import type { Setting } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { Failure } from '../../parts/faults/failure.tsx';
import { useFailure } from '../../parts/faults/use-failure.ts';
import { type Column, LongList } from '../../parts/lists/long-list.tsx';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Card } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useFilters } from './filters.ts';

const COLUMNS: readonly Column<Setting>[] = [
  { name: 'Setting', className: 'w-[36%]', cell: ({ name }) => <Name text={name} /> },
  { name: 'Value', className: 'w-[22%]', cell: (setting) => <Value setting={setting} /> },
  { name: 'From', className: 'w-32', cell: (setting) => <Source setting={setting} /> },
  { name: 'What it does', cell: ({ about }) => <span className="text-[13px] text-muted">{about}</span> },
];

/** How the service is set up, and what of it somebody has chosen. */
export function ConfigurationTab() {
  const { search, set } = useFilters();
  const query = useQuery(configuration);
  const failure = useFailure(query);
  const { data } = query;
  const curlOf = useCurl();
  const path = '/admin/configuration';
  const words = search.q?.toLowerCase() ?? '';
  const found = (data ?? []).filter(
    ({ name, about, is_set: isSet }) =>
      (isSet || !search.set) && `${name} ${about}`.toLowerCase().includes(words),
  );
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <SearchField label="Search settings" value={search.q} onChange={(q) => set({ q })} />
        <Checkbox checked={search.set ?? false} onChange={(only) => set({ set: only || undefined })}>
          Only what is set
        </Checkbox>
        <CopyCurl path={path} />
      </div>
      <p role="status" className="sr-only">
        {data && `${found.length} settings`}
      </p>
      <Card>
        {data ? (
          found.length > 0 ? (
            <LongList
              label="Settings"
              items={found}
              keyOf={({ name }) => name}
              columns={COLUMNS}
              card={(setting) => <SettingCard setting={setting} />}
            />
          ) : (
            <Empty
              icon={<Settings />}
              action={<Button onClick={() => set({ q: undefined, set: undefined })}>Show all</Button>}
            >
              No setting is like that.
            </Empty>
          )
        ) : failure ? (
          <Failure {...failure} curl={curlOf({ path })} />
        ) : (
          <Skeleton lines={8} />
        )}
      </Card>
    </>
  );
}

function Name({ text }: { text: string }) {
  return <code className="font-mono text-[13px] wrap-anywhere">{text}</code>;
}

function Value({ setting: { value, is_secret: isSecret, is_set: isSet } }: { setting: Setting }) {
  if (isSecret) return <span className="text-muted">{isSet ? 'Set, and not shown' : 'None'}</span>;
  if (value === null || value === '') return <span className="text-muted">None</span>;
  return (
    <code dir="ltr" className="font-mono text-[13px] wrap-anywhere">
      {value}
    </code>
  );
}

function Source({ setting: { is_set: isSet } }: { setting: Setting }) {
  return isSet ? <Badge tone="accent">Environment</Badge> : <Badge>Default</Badge>;
}

function SettingCard({ setting }: { setting: Setting }) {
  return (
    <div className="flex flex-col gap-1.5">
      <Name text={setting.name} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Source setting={setting} />
        <Value setting={setting} />
      </div>
      <span className="text-[13px] text-muted">{setting.about}</span>
    </div>
  );
}
