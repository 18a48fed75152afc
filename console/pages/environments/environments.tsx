import { getRouteApi } from '@tanstack/react-router';
import { Boxes, Plus } from 'lucide-react';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { useShortcut } from '../../parts/navigation/shortcuts.ts';
import { Catalogue } from '../../parts/resources/catalogue.tsx';
import { useList } from '../../parts/resources/list.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { EnvironmentState } from './environment-state.tsx';
import { labelOf, NETWORK_LABELS, PROVIDER_LABELS } from './labels.ts';

const route = getRouteApi('/environments');

const COLUMNS: readonly Column<Environment>[] = [
  {
    name: 'Name',
    className: 'w-[34%]',
    cell: (environment) => <EnvironmentCell environment={environment} />,
  },
  { name: 'Provider', cell: ({ sandbox }) => labelOf(PROVIDER_LABELS, sandbox.provider) },
  { name: 'Network', cell: ({ network }) => labelOf(NETWORK_LABELS, network.mode) },
  { name: 'State', className: 'w-44', cell: (environment) => <EnvironmentState environment={environment} /> },
  { name: 'Updated', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function EnvironmentsPage() {
  return (
    <AdministratorsOnly title="Environments">
      <EnvironmentCatalogue />
    </AdministratorsOnly>
  );
}

function EnvironmentCatalogue() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(environments.list(q));
  useShortcut('n', 'New environment', () => void navigate({ to: '/environments/new' }));
  return (
    <Catalogue
      title="Environments"
      lead="Sandbox, resource limits and network access for the commands of agents."
      noun="environments"
      q={q}
      onSearch={(words) => void navigate({ search: { q: words }, replace: true })}
      path="/admin/environments"
      list={list}
      keyOf={({ environment_id: id }) => id}
      columns={COLUMNS}
      card={(environment) => <EnvironmentCard environment={environment} />}
      create={
        <ButtonLink to="/environments/new" look="primary">
          <Plus aria-hidden />
          New environment
        </ButtonLink>
      }
      all={
        <ButtonLink to="/environments" search={{}}>
          Show all
        </ButtonLink>
      }
      none={<EmptyState icon={<Boxes />}>No environments.</EmptyState>}
    />
  );
}

interface EnvironmentProps {
  environment: Environment;
}

function EnvironmentCell({ environment: { environment_id: environmentId, name } }: EnvironmentProps) {
  return (
    <TextLink to="/environments/$environmentId" params={{ environmentId }} className="block">
      <TruncatedText text={name} />
    </TextLink>
  );
}

function EnvironmentCard({ environment }: EnvironmentProps) {
  return (
    <div className="flex flex-col gap-1.5">
      <EnvironmentCell environment={environment} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <EnvironmentState environment={environment} />
        {labelOf(PROVIDER_LABELS, environment.sandbox.provider)}
        <Time at={environment.updated_at} />
      </div>
    </div>
  );
}
