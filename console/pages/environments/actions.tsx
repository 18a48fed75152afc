import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Power, PowerOff, Trash2 } from 'lucide-react';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { Destroy } from '../../parts/destroy.tsx';
import { messageOf } from '../../parts/failure.tsx';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/toast.tsx';

interface EnvironmentProps {
  environment: Environment;
}

/** Turns it off after a question, and on at once. */
export function ToggleEnvironment({ environment }: EnvironmentProps) {
  const { environment_id: id, name, version, enabled } = environment;
  const queries = useQueryClient();
  const read = () => queries.invalidateQueries({ queryKey: ['environments'] });
  const enabling = useMutation({
    mutationFn: () => environments.update(id, version, { enabled: true }),
    onSuccess: () => {
      toast.done('The environment is enabled.');
      return read();
    },
    onError: (error) => {
      toast.failed('The environment is still disabled.', messageOf(error));
      return read();
    },
  });
  if (!enabled) {
    return (
      <Button busy={enabling.isPending} onClick={() => enabling.mutate()}>
        <Power aria-hidden />
        Enable
      </Button>
    );
  }
  return (
    <Destroy
      button={
        <Button>
          <PowerOff aria-hidden />
          Disable
        </Button>
      }
      title={`Disable ${name}?`}
      action="Disable environment"
      run={() => environments.update(id, version, { enabled: false })}
      curl={{ method: 'PATCH', path: `/admin/environments/${id}`, body: { enabled: false } }}
      done="The environment is disabled."
      onDone={() => void read()}
    >
      <p>
        No session begins in it until it is enabled again: conversations and triggers of its agents are
        refused. Sessions that have begun go on.
      </p>
    </Destroy>
  );
}

/** The default environment stays: agents that name none run in it. */
export function DeleteEnvironment({ environment }: EnvironmentProps) {
  const { environment_id: id, name, is_default: isDefault } = environment;
  const navigate = useNavigate();
  const queries = useQueryClient();
  if (isDefault) return null;
  return (
    <Destroy
      button={
        <Button>
          <Trash2 aria-hidden />
          Delete
        </Button>
      }
      title={`Delete ${name}?`}
      action="Delete environment"
      run={() => environments.remove(id)}
      curl={{ method: 'DELETE', path: `/admin/environments/${id}` }}
      done="The environment is deleted."
      onDone={() => {
        queries.removeQueries({ queryKey: ['environments', id] });
        void queries.invalidateQueries({ queryKey: ['environments', 'list'] });
        void navigate({ to: '/environments', ignoreBlocker: true });
      }}
    >
      <p>There is no way back. It is refused as long as an agent or an assistant names it.</p>
    </Destroy>
  );
}
