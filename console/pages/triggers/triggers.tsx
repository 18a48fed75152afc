import { getRouteApi } from '@tanstack/react-router';
import { Plus, SearchX, Webhook } from 'lucide-react';
import { triggers } from '../../api/triggers.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink } from '../../parts/navigation/links.tsx';
import { useShortcut } from '../../parts/navigation/shortcuts.ts';
import { useList } from '../../parts/resources/list.tsx';
import { Listing } from '../../parts/resources/listing.tsx';
import { SearchField } from '../../parts/resources/search-field.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
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
      lead="URLs that start a session for every signed request."
      actions={
        <>
          <CopyCurl {...requests.list(search)} />
          {create}
        </>
      }
      wide
    >
      <search className="mb-3 flex flex-wrap gap-2">
        <SearchField label="Search by agent, type or ID" value={search.q} onChange={(q) => change({ q })} />
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
            <EmptyState
              icon={<SearchX />}
              action={
                <ButtonLink to="/triggers" search={{}}>
                  Show all
                </ButtonLink>
              }
              curl={curlOf(requests.list(search))}
            >
              No matching triggers.
            </EmptyState>
          ) : (
            <EmptyState icon={<Webhook />} action={create} curl={curlOf(requests.create(undefined, ''))}>
              No triggers yet. A trigger lets another system start sessions.
            </EmptyState>
          )
        }
      />
      {actions.dialog}
    </Page>
  );
}
