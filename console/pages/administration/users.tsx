import { Users } from 'lucide-react';
import { users } from '../../api/users.ts';
import type { User } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { pathWith } from '../../parts/curl/curl.ts';
import { useList } from '../../parts/lists/list.tsx';
import { Listing } from '../../parts/lists/listing.tsx';
import type { Column } from '../../parts/lists/long-list.tsx';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from './filters.ts';
import { UserAction } from './user-action.tsx';

const COLUMNS: readonly Column<User>[] = [
  { name: 'Name', className: 'w-[32%]', cell: (user) => <Name user={user} /> },
  { name: 'State', className: 'w-28', cell: (user) => <State user={user} /> },
  { name: 'Role', className: 'w-32', cell: ({ roles }) => roleOf(roles) },
  { name: 'Groups', cell: ({ groups }) => <Cut text={groups.join(', ') || 'None'} /> },
  { name: 'Last seen', className: 'w-36', cell: ({ last_seen_at: at }) => (at ? <Time at={at} /> : 'Never') },
  { name: 'Actions', hideName: true, className: 'w-28 text-end', cell: (user) => <UserAction user={user} /> },
];

/** Everybody who has logged in. */
export function UsersTab() {
  const { search, set } = useFilters();
  const { q } = search;
  const list = useList(users.list(q));
  const path = pathWith('/admin/users', { q });
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label="Search by name, address or id"
          value={q}
          onChange={(words) => set({ q: words })}
        />
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
              <Name user={user} />
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
                <State user={user} />
                {roleOf(user.roles)}
              </div>
            </div>
            <UserAction user={user} />
          </div>
        )}
        curl={{ path }}
        empty={
          <Empty
            icon={<Users />}
            action={<Button onClick={() => set({ q: undefined })}>Show everybody</Button>}
          >
            Nobody is called that.
          </Empty>
        }
      />
    </>
  );
}

const roleOf = (roles: User['roles']) => (roles.includes('administrator') ? 'Administrator' : 'Member');

function Name({ user }: { user: User }) {
  return (
    <>
      <Cut text={user.display_name || user.user_id} className="font-medium" />
      <Cut text={user.email ?? user.user_id} className="text-xs text-muted" />
    </>
  );
}

function State({ user: { enabled } }: { user: User }) {
  return enabled ? <Badge tone="good">Enabled</Badge> : <Badge tone="bad">Disabled</Badge>;
}
