import { useQuery } from '@tanstack/react-query';
import { Settings } from 'lucide-react';
import { configuration } from '../../api/configuration.ts';
import type { Setting } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { type Column, LongList } from '../../parts/resources/long-list.tsx';
import { SearchField } from '../../parts/resources/search-field.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Card } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useAdministrationSearch } from './use-administration-search.ts';

const COLUMNS: readonly Column<Setting>[] = [
  { name: 'Setting', className: 'w-[36%]', cell: ({ name }) => <SettingName text={name} /> },
  { name: 'Value', className: 'w-[22%]', cell: (setting) => <SettingValue setting={setting} /> },
  { name: 'Source', className: 'w-32', cell: (setting) => <SettingSource setting={setting} /> },
  { name: 'Description', cell: ({ about }) => <span className="text-[13px] text-muted">{about}</span> },
];

/** Settings of the service with their values and sources. */
export function ConfigurationTab() {
  const { search, set } = useAdministrationSearch();
  const query = useQuery(configuration);
  const failure = useQueryFailure(query);
  const { data } = query;
  const curlOf = useCurl();
  const path = '/admin/configuration';
  const text = search.q?.toLowerCase() ?? '';
  const found = (data ?? []).filter(
    ({ name, about, is_set: isSet }) =>
      (isSet || !search.set) && `${name} ${about}`.toLowerCase().includes(text),
  );
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <SearchField label="Search settings" value={search.q} onChange={(q) => set({ q })} />
        <Checkbox checked={search.set ?? false} onChange={(only) => set({ set: only || undefined })}>
          Only changed settings
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
            <EmptyState
              icon={<Settings />}
              action={<Button onClick={() => set({ q: undefined, set: undefined })}>Show all</Button>}
            >
              No matching settings.
            </EmptyState>
          )
        ) : failure ? (
          <ErrorState {...failure} curl={curlOf({ path })} />
        ) : (
          <Skeleton lines={8} />
        )}
      </Card>
    </>
  );
}

function SettingName({ text }: { text: string }) {
  return <code className="font-mono text-[13px] wrap-anywhere">{text}</code>;
}

function SettingValue({ setting: { value, is_secret: isSecret, is_set: isSet } }: { setting: Setting }) {
  if (isSecret) return <span className="text-muted">{isSet ? 'Set (hidden)' : 'Not set'}</span>;
  if (value === null || value === '') return <span className="text-muted">None</span>;
  return (
    <code dir="ltr" className="font-mono text-[13px] wrap-anywhere">
      {value}
    </code>
  );
}

function SettingSource({ setting: { is_set: isSet } }: { setting: Setting }) {
  return isSet ? <Badge tone="accent">Environment</Badge> : <Badge>Default</Badge>;
}

function SettingCard({ setting }: { setting: Setting }) {
  return (
    <div className="flex flex-col gap-1.5">
      <SettingName text={setting.name} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <SettingSource setting={setting} />
        <SettingValue setting={setting} />
      </div>
      <span className="text-[13px] text-muted">{setting.about}</span>
    </div>
  );
}
