import { Container, SearchX } from 'lucide-react';
import { sandboxes } from '../../api/sandboxes.ts';
import type { Sandbox } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { pathWithQuery } from '../../parts/curl/curl.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { useList } from '../../parts/resources/list.tsx';
import { Listing } from '../../parts/resources/listing.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Select } from '../../ui/select.tsx';
import { Time } from '../../ui/time.tsx';
import { SandboxActions } from './sandbox-actions.tsx';
import { TenantLink } from './tenant-link.tsx';
import { useAdministrationSearch } from './use-administration-search.ts';

const STATUS_FILTERS = [
  { value: 'existing', text: 'Existing' },
  { value: 'ended', text: 'Ended' },
  { value: 'all', text: 'All' },
] as const;

const STATUS_BADGES: Record<Sandbox['status'], { tone: Tone; text: string }> = {
  provisioning: { tone: 'accent', text: 'Provisioning' },
  ready: { tone: 'good', text: 'Ready' },
  suspended: { tone: 'plain', text: 'Suspended' },
  restoring: { tone: 'accent', text: 'Restoring' },
  lost: { tone: 'bad', text: 'Lost' },
  released: { tone: 'plain', text: 'Released' },
};

const COLUMNS: readonly Column<Sandbox>[] = [
  { name: 'Sandbox', cell: ({ sandbox_id: id }) => <SandboxId text={id} /> },
  { name: 'Status', className: 'w-32', cell: (sandbox) => <SandboxStatus sandbox={sandbox} /> },
  { name: 'Provider', className: 'w-32', cell: ({ provider }) => provider },
  { name: 'Used by', cell: (sandbox) => <TenantLink sandbox={sandbox} /> },
  { name: 'Created', className: 'w-36', cell: ({ created_at: at }) => <Time at={at} /> },
  {
    name: 'Actions',
    hideName: true,
    className: 'w-24 text-end',
    cell: (sandbox) => <SandboxActions sandbox={sandbox} />,
  },
];

/** The sandboxes in which commands run. */
export function SandboxesTab() {
  const { search, set } = useAdministrationSearch();
  const curlOf = useCurl();
  const list = useList(sandboxes.list(search.status));
  const path = pathWithQuery('/admin/sandboxes', { status: search.status });
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Select
          label="Sandbox status"
          value={search.status ?? 'existing'}
          options={STATUS_FILTERS}
          onChange={(status) => set({ status: status === 'existing' ? undefined : status })}
          className="w-36"
        />
        <CopyCurl path={path} />
      </div>
      <Listing
        noun="sandboxes"
        list={list}
        keyOf={({ sandbox_id: id }) => id}
        columns={COLUMNS}
        card={(sandbox) => (
          <div className="flex items-start gap-2">
            <div className="flex min-w-0 flex-1 flex-col gap-1.5">
              <SandboxId text={sandbox.sandbox_id} />
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
                <SandboxStatus sandbox={sandbox} />
                {sandbox.provider}
                <Time at={sandbox.created_at} />
              </div>
              <TenantLink sandbox={sandbox} />
            </div>
            <SandboxActions sandbox={sandbox} />
          </div>
        )}
        curl={{ path }}
        empty={
          search.status ? (
            <EmptyState
              icon={<SearchX />}
              action={<Button onClick={() => set({ status: undefined })}>Show existing sandboxes</Button>}
            >
              No matching sandboxes.
            </EmptyState>
          ) : (
            <EmptyState
              icon={<Container />}
              action={<Button onClick={() => set({ status: 'ended' })}>Show ended sandboxes</Button>}
              curl={curlOf({ path })}
            >
              No sandboxes. The next command of an agent creates one.
            </EmptyState>
          )
        }
      />
    </>
  );
}

function SandboxId({ text }: { text: string }) {
  return (
    <code className="block truncate font-mono text-xs/5" title={text}>
      {text}
    </code>
  );
}

export function SandboxStatus({ sandbox: { status } }: { sandbox: Sandbox }) {
  const { tone, text } = STATUS_BADGES[status];
  return <Badge tone={tone}>{text}</Badge>;
}
