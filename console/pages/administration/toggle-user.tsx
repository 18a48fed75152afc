import { useQueryClient } from '@tanstack/react-query';
import { users } from '../../api/users.ts';
import type { User } from '../../gen/index.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { useViewer } from '../../parts/users/viewer.ts';
import { Button } from '../../ui/button.tsx';

const CONSEQUENCES = {
  disable:
    'All requests of this user are rejected immediately, with a login or a token. Open event streams end within ' +
    'seconds, and their webhooks reject requests and their schedules start no runs. No data is deleted. Enabling the user restores access.',
  enable: 'The user can log in again. Unexpired logins and tokens and the webhooks of the user work again.',
};

/** Button that enables or disables a user. Administrators cannot disable themselves. */
export function ToggleUser({ user }: { user: User }) {
  const { user: viewer } = useViewer();
  const queries = useQueryClient();
  const { user_id: id, enabled } = user;
  const name = user.display_name || user.email || id;
  if (id === viewer?.user_id) return <span className="text-[13px] text-muted">You</span>;
  const verb = enabled ? 'disable' : 'enable';
  const word = enabled ? 'Disable' : 'Enable';
  return (
    <ActionButton
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
      done={`${name} was ${verb}d.`}
      onDone={() => void queries.invalidateQueries({ queryKey: ['users'] })}
    >
      <p>{CONSEQUENCES[verb]}</p>
    </ActionButton>
  );
}
