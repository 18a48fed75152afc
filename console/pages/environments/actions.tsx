import { useQueryClient } from '@tanstack/react-query';
import { Power, PowerOff } from 'lucide-react';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { DeleteResource } from '../../parts/editor/delete-resource.tsx';
import { Button } from '../../ui/button.tsx';

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
  const { environment_id: id, name, revision, enabled } = environment;
  const queries = useQueryClient();
  const verb = enabled ? 'disable' : 'enable';
  const word = enabled ? 'Disable' : 'Enable';
  const change = { enabled: !enabled };
  return (
    <ActionButton
      button={
        <Button>
          {enabled ? <PowerOff aria-hidden /> : <Power aria-hidden />}
          {word}
        </Button>
      }
      title={`${word} ${name}?`}
      action={`${word} environment`}
      isMild={!enabled}
      run={() => environments.update(id, revision, change)}
      curl={{ method: 'PATCH', path: `/admin/environments/${id}`, revision, body: change }}
      done={`The environment was ${verb}d.`}
      onDone={() => void queries.invalidateQueries({ queryKey: ['environments'] })}
    >
      <p>{CONSEQUENCES[verb]}</p>
    </ActionButton>
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
