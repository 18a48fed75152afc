import { Container, SearchX } from 'lucide-react';
import { sandboxes } from '../../api/sandboxes.ts';
import type { Sandbox } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { pathWith } from '../../parts/curl/curl.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { useList } from '../../parts/lists/list.tsx';
import { Listing } from '../../parts/lists/listing.tsx';
import type { Column } from '../../parts/lists/long-list.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/select.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from './filters.ts';
import { SandboxActions } from './sandbox-actions.tsx';
import { Tenant } from './tenant.tsx';

const WHICH = [
  { value: 'there', text: 'There now' },
  { value: 'ended', text: 'Ended' },
  { value: 'all', text: 'All' },
] as const;

const STATES: Record<Sandbox['status'], { tone: Tone; text: string }> = {
  provisioning: { tone: 'accent', text: 'Being made' },
  ready: { tone: 'good', text: 'Ready' },
  suspended: { tone: 'plain', text: 'Suspended' },
  restoring: { tone: 'accent', text: 'Waking' },
  lost: { tone: 'bad', text: 'Lost' },
  released: { tone: 'plain', text: 'Released' },
};

const COLUMNS: readonly Column<Sandbox>[] = [
  { name: 'Sandbox', cell: ({ sandbox_id: id }) => <Id text={id} /> },
  { name: 'Status', className: 'w-32', cell: (sandbox) => <SandboxStatus sandbox={sandbox} /> },
  { name: 'Provider', className: 'w-32', cell: ({ provider }) => provider },
  { name: 'Whose', cell: (sandbox) => <Tenant sandbox={sandbox} /> },
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
  const { search, set } = useFilters();
  const curlOf = useCurl();
  const list = useList(sandboxes.list(search.status));
  const path = pathWith('/admin/sandboxes', { status: search.status });
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Select
          label="Which sandboxes"
          value={search.status ?? 'there'}
          options={WHICH}
          onChange={(status) => set({ status: status === 'there' ? undefined : status })}
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
              <Id text={sandbox.sandbox_id} />
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
                <SandboxStatus sandbox={sandbox} />
                {sandbox.provider}
                <Time at={sandbox.created_at} />
              </div>
              <Tenant sandbox={sandbox} />
            </div>
            <SandboxActions sandbox={sandbox} />
          </div>
        )}
        curl={{ path }}
        empty={
          search.status ? (
            <Empty
              icon={<SearchX />}
              action={<Button onClick={() => set({ status: undefined })}>Show those that are there</Button>}
            >
              No sandbox is like that.
            </Empty>
          ) : (
            <Empty
              icon={<Container />}
              action={<Button onClick={() => set({ status: 'ended' })}>Show ended ones</Button>}
              curl={curlOf({ path })}
            >
              No sandbox is there: the next command of an agent makes one.
            </Empty>
          )
        }
      />
    </>
  );
}

function Id({ text }: { text: string }) {
  return (
    <code className="block truncate font-mono text-xs/5" title={text}>
      {text}
    </code>
  );
}

export function SandboxStatus({ sandbox: { status } }: { sandbox: Sandbox }) {
  const { tone, text } = STATES[status];
  return <Badge tone={tone}>{text}</Badge>;
}
