import { Eye } from 'lucide-react';
import type { Session } from '../../gen/index.ts';
import { UserName } from '../../parts/users/user-name.tsx';
import { useViewer } from '../../parts/users/viewer.ts';

/** States whose session is shown to an administrator or to a manager of its agent. */
export function OwnerBanner({ session: { created_by: owner } }: { session: Session }) {
  const { user, isAdministrator } = useViewer();
  if (owner === user?.user_id) return null;
  return (
    <p className="mx-4 mb-2 flex items-start gap-2 rounded-lg bg-accent-soft px-3 py-2 text-accent sm:mx-8">
      <Eye className="mt-0.5 size-4 shrink-0" aria-hidden />
      <span className="min-w-0">
        You see this session of <UserName id={owner} /> as{' '}
        {isAdministrator ? 'an administrator' : 'a manager of its agent'}. You can read and stop it.
      </span>
    </p>
  );
}
