import { getRouteApi } from '@tanstack/react-router';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { FieldComparison } from '../../parts/editor/field-comparison.tsx';
import { VersionHistory } from '../../parts/editor/version-history.tsx';
import { environmentFields } from './labels.ts';

const route = getRouteApi('/environments/$environmentId');

/** Version history of an environment. */
export function EnvironmentVersionsTab({
  environment: { environment_id: id },
}: {
  environment: Environment;
}) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <VersionHistory
      lead="A sandbox keeps the environment version with which it was created."
      pages={environments.versions(id)}
      path={`/admin/environments/${id}/versions`}
      from={from}
      to={to}
      onChange={(pair) => void navigate({ search: { tab: 'versions', ...pair }, replace: true })}
    >
      {(after, before) => (
        <FieldComparison before={before && environmentFields(before)} after={environmentFields(after)} />
      )}
    </VersionHistory>
  );
}
