import { Users } from 'lucide-react';
import { users } from '../../api/users.ts';
import type { User } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { pathWithQuery } from '../../parts/curl/curl.ts';
import { useList } from '../../parts/resources/list.tsx';
import { Listing } from '../../parts/resources/listing.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { SearchField } from '../../parts/resources/search-field.tsx';
import { nameOf } from '../../parts/users/people-search.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { ToggleUser } from './toggle-user.tsx';
import { useAdministrationSearch } from './use-administration-search.ts';

const COLUMNS: readonly Column<User>[] = [
  { name: 'Name', className: 'w-[32%]', cell: (user) => <UserCell user={user} /> },
  { name: 'State', className: 'w-28', cell: (user) => <UserState user={user} /> },
  { name: 'Role', className: 'w-32', cell: ({ roles }) => roleOf(roles) },
  { name: 'Groups', cell: ({ groups }) => <TruncatedText text={groups.join(', ') || 'None'} /> },
  { name: 'Last seen', className: 'w-36', cell: ({ last_seen_at: at }) => (at ? <Time at={at} /> : 'Never') },
  { name: 'Actions', hideName: true, className: 'w-28 text-end', cell: (user) => <ToggleUser user={user} /> },
];

/** All users who have logged in. */
export function UsersTab() {
  const { search, set } = useAdministrationSearch();
  const { q } = search;
  const list = useList(users.list(q));
  const path = pathWithQuery('/admin/users', { q });
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField label="Search by name, e-mail or ID" value={q} onChange={(text) => set({ q: text })} />
        <CopyCurl path={path} />
      </div>
      <Listing
        noun="users"
        list={list}
        keyOf={({ user_id: id }) => id}
        columns={COLUMNS}
        card={(user) => (
          <div className="flex items-start gap-2">
            <div className="flex min-w-0 flex-1 flex-col gap-1.5">
              <UserCell user={user} />
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
                <UserState user={user} />
                {roleOf(user.roles)}
              </div>
            </div>
            <ToggleUser user={user} />
          </div>
        )}
        curl={{ path }}
        empty={
          <EmptyState
            icon={<Users />}
            action={<Button onClick={() => set({ q: undefined })}>Show all users</Button>}
          >
            No matching users.
          </EmptyState>
        }
      />
    </>
  );
}

const roleOf = (roles: User['roles']) => (roles.includes('administrator') ? 'Administrator' : 'Member');

function UserCell({ user }: { user: User }) {
  return (
    <>
      <TruncatedText text={nameOf(user) ?? user.user_id} className="font-medium" />
      <TruncatedText
        text={(user.display_name && user.email) || user.user_id}
        className="text-xs text-muted"
      />
    </>
  );
}

function UserState({ user: { enabled } }: { user: User }) {
  return enabled ? <Badge tone="good">Enabled</Badge> : <Badge tone="bad">Disabled</Badge>;
}
