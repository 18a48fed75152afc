import { getRouteApi } from '@tanstack/react-router';
import { Plus, SearchX, Webhook } from 'lucide-react';
import { deployments } from '../../api/deployments.ts';
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
import { useDeploymentActions } from './actions.tsx';
import { requests } from './requests.ts';
import { DeploymentCard, useDeploymentColumns } from './rows.tsx';
import type { DeploymentsSearch } from './search.ts';

const route = getRouteApi('/deployments');

const TYPES = [
  { value: 'any', text: 'Any type' },
  { value: 'webhook', text: 'Webhooks' },
  { value: 'schedule', text: 'Schedules' },
  { value: 'channel', text: 'Channels' },
] as const;

const STATUSES = [
  { value: 'any', text: 'Any status' },
  { value: 'enabled', text: 'Enabled' },
  { value: 'disabled', text: 'Disabled' },
] as const;

export function DeploymentsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const curlOf = useCurl();
  const list = useList(deployments.list(search));
  const actions = useDeploymentActions();
  const columns = useDeploymentColumns(actions);
  const change = (part: DeploymentsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  useShortcut('n', 'New deployment', () => void navigate({ to: '/deployments/new' }));
  const create = (
    <ButtonLink to="/deployments/new" look="primary">
      <Plus aria-hidden />
      New deployment
    </ButtonLink>
  );
  const isFiltered = [search.q, search.type, search.status].some((filter) => filter !== undefined);
  return (
    <Page
      title="Deployments"
      lead="Webhooks, schedules and messaging products that start sessions of your agents."
      actions={
        <>
          <CopyCurl {...requests.list(search)} />
          {create}
        </>
      }
      wide
    >
      <search className="mb-3 flex flex-wrap gap-2">
        <SearchField
          label="Search by name, agent, type or ID"
          value={search.q}
          onChange={(q) => change({ q })}
        />
        <Select
          label="Type"
          value={search.type ?? 'any'}
          options={TYPES}
          onChange={(type) => change({ type: type === 'any' ? undefined : type })}
        />
        <Select
          label="Status"
          value={search.status ?? 'any'}
          options={STATUSES}
          onChange={(status) => change({ status: status === 'any' ? undefined : status })}
        />
      </search>
      <Listing
        noun="deployments"
        list={list}
        keyOf={({ deployment_id: id }) => id}
        columns={columns}
        card={(deployment) => <DeploymentCard deployment={deployment} actions={actions} />}
        curl={requests.list(search)}
        empty={
          isFiltered ? (
            <EmptyState
              icon={<SearchX />}
              action={
                <ButtonLink to="/deployments" search={{}}>
                  Show all
                </ButtonLink>
              }
              curl={curlOf(requests.list(search))}
            >
              No matching deployments.
            </EmptyState>
          ) : (
            <EmptyState
              icon={<Webhook />}
              action={create}
              curl={curlOf(requests.createWebhook(undefined, ''))}
            >
              No deployments yet. A webhook lets another system start sessions, a schedule starts them at
              fixed times, and a channel connects a messaging product.
            </EmptyState>
          )
        }
      />
      {actions.dialog}
    </Page>
  );
}
