import { getRouteApi } from '@tanstack/react-router';
import { Plus, SearchX, Webhook } from 'lucide-react';
import { useCallback } from 'react';
import { triggers } from '../../api/triggers.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { curlOf } from '../../parts/curl/curl.ts';
import { ButtonLink } from '../../parts/links.tsx';
import { List, useList } from '../../parts/lists/list.tsx';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { useShortcut } from '../../parts/shortcuts.ts';
import { Empty } from '../../ui/empty.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { useTriggerActions } from './actions.tsx';
import { requests } from './requests.ts';
import { TriggerRows } from './rows.tsx';

const route = getRouteApi('/triggers');

const STATUSES = [
  { value: 'any', text: 'Any status' },
  { value: 'enabled', text: 'Enabled' },
  { value: 'disabled', text: 'Disabled' },
] as const;

export function TriggersPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { isTeam } = useViewer();
  const list = useList(triggers.list(search));
  const actions = useTriggerActions();
  const searchFor = useCallback(
    (q: string | undefined) => void navigate({ search: (before) => ({ ...before, q }), replace: true }),
    [navigate],
  );
  useShortcut('n', 'New trigger', () => void navigate({ to: '/triggers/new' }));
  const { query, items } = list;
  const onEnd = useCallback(() => {
    if (query.hasNextPage && !query.isFetching && !query.isFetchNextPageError) void query.fetchNextPage();
  }, [query.hasNextPage, query.isFetching, query.isFetchNextPageError, query.fetchNextPage]);
  const create = (
    <ButtonLink to="/triggers/new" look="primary">
      <Plus aria-hidden />
      New trigger
    </ButtonLink>
  );
  const isFiltered = search.q !== undefined || search.status !== undefined;
  const curl = curlOf({ isTeam, ...requests.list(search) });
  return (
    <Page
      title="Triggers"
      lead="URLs that start a session with every signed request they get."
      actions={
        <>
          <CopyCurl {...requests.list(search)} />
          {create}
        </>
      }
      wide
    >
      <div className="mb-3 flex flex-wrap gap-2">
        <SearchField label="Search by agent, type or id" value={search.q} onChange={searchFor} />
        <Select
          label="Status"
          value={search.status ?? 'any'}
          options={STATUSES}
          onChange={(status) =>
            void navigate({
              search: (before) => ({ ...before, status: status === 'any' ? undefined : status }),
              replace: true,
            })
          }
        />
      </div>
      <p role="status" className="sr-only">
        {!query.isPending && `${items.length}${query.hasNextPage ? ' or more' : ''} triggers`}
      </p>
      <Card>
        <List
          list={list}
          curl={curl}
          empty={
            isFiltered ? (
              <Empty
                icon={<SearchX />}
                action={
                  <ButtonLink to="/triggers" search={{}}>
                    Show all
                  </ButtonLink>
                }
                curl={curl}
              >
                No trigger is like that.
              </Empty>
            ) : (
              <Empty
                icon={<Webhook />}
                action={create}
                curl={curlOf({ isTeam, ...requests.create(undefined, '') })}
              >
                There is no trigger yet: create one to let another system start an agent.
              </Empty>
            )
          }
        >
          {(shown) => (
            <TriggerRows triggers={shown} more={query.hasNextPage} onEnd={onEnd} actions={actions} />
          )}
        </List>
      </Card>
      {actions.dialog}
    </Page>
  );
}
