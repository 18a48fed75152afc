import { getRouteApi } from '@tanstack/react-router';
import { Boxes, Plus } from 'lucide-react';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { Catalogue } from '../../parts/lists/catalogue.tsx';
import { useList } from '../../parts/lists/list.tsx';
import type { Column } from '../../parts/lists/long-list.tsx';
import { AdministratorsOnly } from '../../parts/people/administrators-only.tsx';
import { useShortcut } from '../../parts/shortcuts.ts';
import { Cut } from '../../ui/cut.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/time.tsx';
import { EnvironmentState } from './state.tsx';
import { NETWORKS, PROVIDERS, textOf } from './words.ts';

const route = getRouteApi('/environments');

const COLUMNS: readonly Column<Environment>[] = [
  { name: 'Name', className: 'w-[34%]', cell: (environment) => <Name environment={environment} /> },
  { name: 'Provider', cell: ({ sandbox }) => textOf(PROVIDERS, sandbox.provider) },
  { name: 'Network', cell: ({ network }) => textOf(NETWORKS, network.mode) },
  { name: 'State', className: 'w-44', cell: (environment) => <EnvironmentState environment={environment} /> },
  { name: 'Changed', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function EnvironmentsPage() {
  return (
    <AdministratorsOnly title="Environments">
      <AllEnvironments />
    </AdministratorsOnly>
  );
}

function AllEnvironments() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(environments.list(q));
  useShortcut('n', 'New environment', () => void navigate({ to: '/environments/new' }));
  return (
    <Catalogue
      title="Environments"
      lead="Where the commands of agents run: the sandbox, its limits, and what it can reach."
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
      none={<Empty icon={<Boxes />}>There is no environment.</Empty>}
    />
  );
}

interface EnvironmentProps {
  environment: Environment;
}

function Name({ environment: { environment_id: environmentId, name } }: EnvironmentProps) {
  return (
    <TextLink to="/environments/$environmentId" params={{ environmentId }} className="block">
      <Cut text={name} />
    </TextLink>
  );
}

function EnvironmentCard({ environment }: EnvironmentProps) {
  return (
    <div className="flex flex-col gap-1.5">
      <Name environment={environment} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <EnvironmentState environment={environment} />
        {textOf(PROVIDERS, environment.sandbox.provider)}
        <Time at={environment.updated_at} />
      </div>
    </div>
  );
}
