import type { Session } from '../../gen/index.ts';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { TextLink } from '../navigation/links.tsx';
import { UserName } from '../users/user-name.tsx';
import { useViewer } from '../users/viewer.ts';
import { SessionMenu } from './session-menu.tsx';
import { SessionStateBadge } from './state-badge.tsx';

/** List of sessions with links. It shows the owners when there are sessions of other users. */
export function SessionRows({ sessions }: { sessions: readonly Session[] }) {
  const { user } = useViewer();
  const showsOwners = sessions.some(({ created_by: owner }) => owner !== user?.user_id);
  return (
    <Card>
      <ul className="divide-y divide-line">
        {sessions.map((session) => (
          <li
            key={session.session_id}
            className="relative flex flex-wrap items-center gap-x-4 gap-y-1 py-1.5 ps-4 pe-2 hover:bg-sunken"
          >
            <TextLink
              to="/sessions/$sessionId"
              params={{ sessionId: session.session_id }}
              dir="auto"
              title={session.title ?? undefined}
              className="min-w-0 flex-1 basis-48 truncate after:absolute after:inset-0"
            >
              {session.title || 'Untitled'}
            </TextLink>
            {showsOwners && (
              <span className="max-w-full min-w-0 text-[13px] text-muted">
                <span className="sr-only">Owner: </span>
                <UserName id={session.created_by} />
              </span>
            )}
            <SessionStateBadge session={session} />
            <span className="relative text-[13px] text-muted">
              <Time at={session.updated_at} />
            </span>
            <span className="relative">
              <SessionMenu session={session} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
