import { useMutation, useQueryClient } from '@tanstack/react-query';
import { users } from '../../api/users.ts';
import type { User } from '../../gen/index.ts';
import { Destroy } from '../../parts/destroy.tsx';
import { messageOf } from '../../parts/failure.tsx';
import { useViewer } from '../../parts/viewer.ts';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/toast.tsx';

/** Lets somebody in again, or no longer. Nobody shuts themselves out. */
export function UserAction({ user }: { user: User }) {
  const { user: me } = useViewer();
  const queries = useQueryClient();
  const { user_id: id } = user;
  const name = user.display_name || user.email || id;
  const read = () => queries.invalidateQueries({ queryKey: ['users'] });
  const enabling = useMutation({
    mutationFn: () => users.enable(id),
    onSuccess: () => {
      toast.done(`${name} is enabled.`);
      return read();
    },
    onError: (error) => toast.failed(`${name} is still disabled.`, messageOf(error)),
  });
  if (id === me?.user_id) return <span className="text-[13px] text-muted">You</span>;
  if (!user.enabled) {
    return (
      <Button small busy={enabling.isPending} aria-label={`Enable ${name}`} onClick={() => enabling.mutate()}>
        Enable
      </Button>
    );
  }
  return (
    <Destroy
      button={
        <Button small aria-label={`Disable ${name}`}>
          Disable
        </Button>
      }
      title={`Disable ${name}?`}
      action="Disable user"
      run={() => users.disable(id)}
      curl={{ method: 'POST', path: `/admin/users/${id}/disable` }}
      done={`${name} is disabled.`}
      onDone={() => void read()}
    >
      <p>
        They are refused everywhere from this moment on, with a login and with every token. What they follow
        ends within seconds, and nothing starts in their name: their triggers refuse calls. Nothing of theirs
        is deleted, and all of it works again once they are enabled.
      </p>
    </Destroy>
  );
}
