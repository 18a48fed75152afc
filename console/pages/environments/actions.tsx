import { useQueryClient } from '@tanstack/react-query';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { ToggleResource } from '../../parts/actions/toggle-resource.tsx';
import { DeleteResource } from '../../parts/editor/delete-resource.tsx';

interface EnvironmentProps {
  environment: Environment;
}

const CONSEQUENCES = {
  disable:
    'No new sessions can start in this environment: conversations and triggers of its agents are rejected. ' +
    'Existing sessions continue.',
  enable: 'New sessions can start in this environment again.',
};

export function ToggleEnvironment({ environment }: EnvironmentProps) {
  const { environment_id: id, name, revision } = environment;
  const queries = useQueryClient();
  return (
    <ToggleResource
      noun="environment"
      name={name}
      resource={environment}
      path={`/admin/environments/${id}`}
      run={(change) => environments.update(id, revision, change)}
      onDone={() => void queries.invalidateQueries({ queryKey: ['environments'] })}
      consequences={CONSEQUENCES}
    />
  );
}

/** The default environment cannot be deleted, because agents without an environment run in it. */
export function DeleteEnvironment({
  environment: { environment_id: id, name, is_default },
}: EnvironmentProps) {
  if (is_default) return null;
  return (
    <DeleteResource
      noun="environment"
      id={id}
      name={name}
      path={`/admin/environments/${id}`}
      run={() => environments.remove(id)}
    >
      <p>This cannot be undone. An environment that an agent or assistant uses cannot be deleted.</p>
    </DeleteResource>
  );
}
