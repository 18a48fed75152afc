import { getRouteApi } from '@tanstack/react-router';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { Versions } from '../../parts/editor/versions.tsx';
import { environmentShown } from './words.ts';

const route = getRouteApi('/environments/$environmentId');

/** What the environment has been, and what has changed in between. */
export function VersionsTab({ environment: { environment_id: id } }: { environment: Environment }) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Versions
      lead="A sandbox keeps the version it was made with."
      pages={environments.versions(id)}
      path={`/admin/environments/${id}/versions`}
      from={from}
      to={to}
      onChange={(pair) => void navigate({ search: { tab: 'versions', ...pair }, replace: true })}
      shown={environmentShown}
    />
  );
}
