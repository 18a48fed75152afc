import { useQueryClient } from '@tanstack/react-query';
import { Power, PowerOff } from 'lucide-react';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { ActButton } from '../../parts/acts/act-button.tsx';
import { DeleteThing } from '../../parts/editor/delete-thing.tsx';
import { Button } from '../../ui/button.tsx';

interface EnvironmentProps {
  environment: Environment;
}

const MEANS = {
  disable:
    'No session begins in it until it is enabled again: conversations and triggers of its agents are refused. ' +
    'Sessions that have begun go on.',
  enable: 'Sessions begin in it again.',
};

export function ToggleEnvironment({ environment }: EnvironmentProps) {
  const { environment_id: id, name, version, enabled } = environment;
  const queries = useQueryClient();
  const verb = enabled ? 'disable' : 'enable';
  const word = enabled ? 'Disable' : 'Enable';
  const change = { enabled: !enabled };
  return (
    <ActButton
      button={
        <Button>
          {enabled ? <PowerOff aria-hidden /> : <Power aria-hidden />}
          {word}
        </Button>
      }
      title={`${word} ${name}?`}
      action={`${word} environment`}
      isMild={!enabled}
      run={() => environments.update(id, version, change)}
      curl={{ method: 'PATCH', path: `/admin/environments/${id}`, version, body: change }}
      done={`The environment is ${verb}d.`}
      onDone={() => void queries.invalidateQueries({ queryKey: ['environments'] })}
    >
      <p>{MEANS[verb]}</p>
    </ActButton>
  );
}

/** The default environment stays: agents that name none run in it. */
export function DeleteEnvironment({
  environment: { environment_id: id, name, is_default },
}: EnvironmentProps) {
  if (is_default) return null;
  return (
    <DeleteThing
      noun="environment"
      id={id}
      name={name}
      path={`/admin/environments/${id}`}
      run={() => environments.remove(id)}
    >
      <p>There is no way back. It is refused as long as an agent or an assistant names it.</p>
    </DeleteThing>
  );
}
