import type { Session } from '../../gen/index.ts';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { TextLink } from '../links.tsx';
import { SessionStatus } from './status.tsx';

/** Some sessions, each of them a link. */
export function SessionRows({ sessions }: { sessions: readonly Session[] }) {
  return (
    <Card>
      <ul className="divide-y divide-line">
        {sessions.map((session) => (
          <li
            key={session.session_id}
            className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 hover:bg-sunken"
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
            <SessionStatus session={session} />
            <span className="relative text-[13px] text-muted">
              <Time at={session.updated_at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
