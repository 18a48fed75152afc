import { useQueryClient } from '@tanstack/react-query';
import { users } from '../../api/users.ts';
import type { User } from '../../gen/index.ts';
import { ActButton } from '../../parts/acts/act-button.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { Button } from '../../ui/button.tsx';

const MEANS = {
  disable:
    'They are refused everywhere from this moment on, with a login and with every token. What they follow ends within ' +
    'seconds, and nothing starts in their name: their triggers refuse calls. Nothing of theirs is deleted, and all of ' +
    'it works again once they are enabled.',
  enable:
    'They can log in again. Logins and tokens that have not ended otherwise hold again, and so do their triggers.',
};

/** Lets somebody in again, or no longer. Nobody shuts themselves out. */
export function UserAction({ user }: { user: User }) {
  const { user: me } = useViewer();
  const queries = useQueryClient();
  const { user_id: id, enabled } = user;
  const name = user.display_name || user.email || id;
  if (id === me?.user_id) return <span className="text-[13px] text-muted">You</span>;
  const verb = enabled ? 'disable' : 'enable';
  const word = enabled ? 'Disable' : 'Enable';
  return (
    <ActButton
      button={
        <Button small aria-label={`${word} ${name}`}>
          {word}
        </Button>
      }
      title={`${word} ${name}?`}
      action={`${word} user`}
      isMild={!enabled}
      run={() => users[verb](id)}
      curl={{ method: 'POST', path: `/admin/users/${id}/${verb}` }}
      done={`${name} is ${verb}d.`}
      onDone={() => void queries.invalidateQueries({ queryKey: ['users'] })}
    >
      <p>{MEANS[verb]}</p>
    </ActButton>
  );
}
