import { getRouteApi } from '@tanstack/react-router';
import { Plus, SearchX, Webhook } from 'lucide-react';
import { triggers } from '../../api/triggers.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink } from '../../parts/links.tsx';
import { useList } from '../../parts/lists/list.tsx';
import { Listing } from '../../parts/lists/listing.tsx';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { useShortcut } from '../../parts/shortcuts.ts';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { useTriggerActions } from './actions.tsx';
import { requests } from './requests.ts';
import { TriggerCard, useTriggerColumns } from './rows.tsx';
import type { TriggersSearch } from './search.ts';

const route = getRouteApi('/triggers');

const STATUSES = [
  { value: 'any', text: 'Any status' },
  { value: 'enabled', text: 'Enabled' },
  { value: 'disabled', text: 'Disabled' },
] as const;

export function TriggersPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const curlOf = useCurl();
  const list = useList(triggers.list(search));
  const actions = useTriggerActions();
  const columns = useTriggerColumns(actions);
  const change = (part: TriggersSearch) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  useShortcut('n', 'New trigger', () => void navigate({ to: '/triggers/new' }));
  const create = (
    <ButtonLink to="/triggers/new" look="primary">
      <Plus aria-hidden />
      New trigger
    </ButtonLink>
  );
  const isFiltered = search.q !== undefined || search.status !== undefined;
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
      <search className="mb-3 flex flex-wrap gap-2">
        <SearchField label="Search by agent, type or id" value={search.q} onChange={(q) => change({ q })} />
        <Select
          label="Status"
          value={search.status ?? 'any'}
          options={STATUSES}
          onChange={(status) => change({ status: status === 'any' ? undefined : status })}
        />
      </search>
      <Listing
        noun="triggers"
        list={list}
        keyOf={({ deployment_id: id }) => id}
        columns={columns}
        card={(trigger) => <TriggerCard trigger={trigger} actions={actions} />}
        curl={requests.list(search)}
        empty={
          isFiltered ? (
            <Empty
              icon={<SearchX />}
              action={
                <ButtonLink to="/triggers" search={{}}>
                  Show all
                </ButtonLink>
              }
              curl={curlOf(requests.list(search))}
            >
              No trigger is like that.
            </Empty>
          ) : (
            <Empty icon={<Webhook />} action={create} curl={curlOf(requests.create(undefined, ''))}>
              There is no trigger yet: create one to let another system start an agent.
            </Empty>
          )
        }
      />
      {actions.dialog}
    </Page>
  );
}
