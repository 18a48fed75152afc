import { SearchX } from 'lucide-react';
import { audit } from '../../api/audit.ts';
import type { Act } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { pathWith } from '../../parts/curl/curl.ts';
import { ButtonLink } from '../../parts/links.tsx';
import { useList } from '../../parts/lists/list.tsx';
import { Listing } from '../../parts/lists/listing.tsx';
import type { Column } from '../../parts/lists/long-list.tsx';
import { usePeople } from '../../parts/people/people.ts';
import { Person } from '../../parts/people/person.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/time.tsx';
import { ActDetails } from './act-details.tsx';
import { filtersOf, nameOf } from './acts.ts';
import { AuditFilters } from './audit-filters.tsx';
import { useFilters } from './filters.ts';
import { Verify } from './verify.tsx';

const COLUMNS: readonly Column<Act>[] = [
  { name: 'When', className: 'w-36', cell: ({ created_at: at }) => <Time at={at} /> },
  { name: 'Act', cell: ({ action }) => nameOf(action) },
  { name: 'Outcome', className: 'w-28', cell: (act) => <Outcome act={act} /> },
  { name: 'Who', cell: (act) => <Who act={act} /> },
  { name: 'What', cell: ({ target_id: id }) => (id ? <Cut text={id} mono /> : '') },
  { name: 'From', className: 'w-32', cell: ({ address }) => <Cut text={address ?? ''} mono /> },
  { name: 'Details', hideName: true, className: 'w-16 text-end', cell: (act) => <ActDetails act={act} /> },
];

/** Who did what. Nothing in it is ever changed, which can be proven. */
export function AuditTab() {
  const { search } = useFilters();
  const filters = filtersOf(search);
  const list = useList(audit.list(filters));
  // Asked for together with the acts: most of them are of the newest.
  usePeople();
  const path = pathWith('/admin/audit', filters);
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-prose text-muted">
          Logins, tokens, users, access, what administrators looked at, and what was refused. Reading it is
          written down, too.
        </p>
        <CopyCurl path={path} />
      </div>
      <Verify />
      <AuditFilters />
      <Listing
        noun="acts"
        list={list}
        keyOf={({ seq }) => String(seq)}
        columns={COLUMNS}
        card={(act) => <ActCard act={act} />}
        curl={{ path }}
        empty={
          <Empty
            icon={<SearchX />}
            action={
              <ButtonLink to="/administration" search={{ tab: 'audit' }}>
                Show all
              </ButtonLink>
            }
          >
            Nothing like that was done.
          </Empty>
        }
      />
    </>
  );
}

function Outcome({ act: { outcome } }: { act: Act }) {
  return outcome === 'refused' ? <Badge tone="bad">Refused</Badge> : <Badge tone="good">Done</Badge>;
}

function Who({ act: { actor_id: id } }: { act: Act }) {
  return <span className="block truncate">{id === null ? 'Nobody known' : <Person id={id} />}</span>;
}

function ActCard({ act }: { act: Act }) {
  return (
    <div className="flex items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <span className="font-medium">{nameOf(act.action)}</span>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
          <Outcome act={act} />
          <Time at={act.created_at} />
        </div>
        <Who act={act} />
        {act.target_id && <Cut text={act.target_id} mono className="text-muted" />}
      </div>
      <ActDetails act={act} />
    </div>
  );
}
