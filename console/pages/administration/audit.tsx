import { SearchX } from 'lucide-react';
import { audit } from '../../api/audit.ts';
import type { Act } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { pathWithQuery } from '../../parts/curl/curl.ts';
import { ButtonLink } from '../../parts/navigation/links.tsx';
import { useList } from '../../parts/resources/list.tsx';
import { Listing } from '../../parts/resources/listing.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { UserName } from '../../parts/users/user-name.tsx';
import { Badge } from '../../ui/badge.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { ActDetails } from './act-details.tsx';
import { actionName, auditFiltersOf } from './audit-actions.ts';
import { AuditFilters } from './audit-filters.tsx';
import { useAdministrationSearch } from './use-administration-search.ts';
import { VerifyLog } from './verify-log.tsx';

const COLUMNS: readonly Column<Act>[] = [
  { name: 'Time', className: 'w-36', cell: ({ created_at: at }) => <Time at={at} /> },
  { name: 'Action', cell: ({ action }) => actionName(action) },
  { name: 'Outcome', className: 'w-28', cell: (act) => <OutcomeBadge act={act} /> },
  { name: 'Actor', cell: (act) => <ActorName act={act} /> },
  { name: 'Target', cell: ({ target_id: id }) => (id ? <TargetName id={id} /> : '') },
  { name: 'Address', className: 'w-32', cell: ({ address }) => <TruncatedText text={address ?? ''} mono /> },
  { name: 'Details', hideName: true, className: 'w-16 text-end', cell: (act) => <ActDetails act={act} /> },
];

/** The audit log. It is append-only and verifiable. */
export function AuditTab() {
  const { search } = useAdministrationSearch();
  const filters = auditFiltersOf(search);
  const list = useList(audit.list(filters));
  const path = pathWithQuery('/admin/audit', filters);
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-prose text-muted">
          Logins, token and user changes, access changes, views by administrators, and denied requests.
          Reading the log is logged, too.
        </p>
        <CopyCurl path={path} />
      </div>
      <VerifyLog />
      <AuditFilters />
      <Listing
        noun="entries"
        list={list}
        keyOf={({ seq }) => String(seq)}
        columns={COLUMNS}
        card={(act) => <ActCard act={act} />}
        curl={{ path }}
        empty={
          <EmptyState
            icon={<SearchX />}
            action={
              <ButtonLink to="/administration" search={{ tab: 'audit' }}>
                Show all
              </ButtonLink>
            }
          >
            No matching entries.
          </EmptyState>
        }
      />
    </>
  );
}

function OutcomeBadge({ act: { outcome } }: { act: Act }) {
  return outcome === 'refused' ? <Badge tone="bad">Refused</Badge> : <Badge tone="good">Done</Badge>;
}

function ActorName({ act: { actor_id: id } }: { act: Act }) {
  return <span className="block truncate">{id === null ? 'Unknown' : <UserName id={id} />}</span>;
}

/** The name of a user, or the id of another resource. */
function TargetName({ id }: { id: string }) {
  return id.startsWith('usr_') ? (
    <span className="block truncate">
      <UserName id={id} />
    </span>
  ) : (
    <TruncatedText text={id} mono />
  );
}

function ActCard({ act }: { act: Act }) {
  return (
    <div className="flex items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <span className="font-medium">{actionName(act.action)}</span>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
          <OutcomeBadge act={act} />
          <Time at={act.created_at} />
        </div>
        <ActorName act={act} />
        {act.target_id && (
          <div className="text-muted">
            <TargetName id={act.target_id} />
          </div>
        )}
      </div>
      <ActDetails act={act} />
    </div>
  );
}
