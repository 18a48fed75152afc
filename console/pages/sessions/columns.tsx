import { useContext } from 'react';
import type { Session } from '../../gen/index.ts';
import { countText } from '../../journal/usage-text.ts';
import { SessionAgentLink } from '../../parts/agents/agent-name.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { SessionMenu } from '../../parts/sessions/session-menu.tsx';
import { SessionSource } from '../../parts/sessions/source.tsx';
import { SessionStateBadge } from '../../parts/sessions/state-badge.tsx';
import { UserName } from '../../parts/users/user-name.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { SelectionContext } from './selection.ts';

function SessionTitle({ session: { session_id: sessionId, title } }: { session: Session }) {
  const { ids, toggle } = useContext(SelectionContext);
  return (
    <div className="flex items-start gap-3">
      <input
        type="checkbox"
        aria-label={`Select ${title || sessionId}`}
        checked={ids.has(sessionId)}
        onChange={() => toggle(sessionId)}
        className="mt-0.5 size-4 shrink-0 accent-accent-fill"
      />
      <TextLink to="/sessions/$sessionId" params={{ sessionId }} className="block min-w-0 flex-1">
        <TruncatedText text={title || 'Untitled'} />
        <TruncatedText text={sessionId} mono className="text-xs font-normal text-muted" />
      </TextLink>
    </div>
  );
}

const OwnerName = ({ session }: { session: Session }) => (
  <span className="block truncate">
    <UserName id={session.created_by} />
  </span>
);

const SessionAgentAndSource = ({ session }: { session: Session }) => (
  <>
    <SessionAgentLink session={session} />
    <span className="block truncate text-xs text-muted">
      <SessionSource session={session} />
    </span>
  </>
);

const eventsText = ({ last_seq: events }: Session) => countText(events, 'event');

const TITLE: Column<Session> = { name: 'Title', cell: (session) => <SessionTitle session={session} /> };
const OWNER: Column<Session> = {
  name: 'Owner',
  className: 'w-[14%]',
  cell: (session) => <OwnerName session={session} />,
};
const OTHERS: readonly Column<Session>[] = [
  {
    name: 'Agent and source',
    className: 'w-[18%]',
    cell: (session) => <SessionAgentAndSource session={session} />,
  },
  { name: 'State', className: 'w-40', cell: (session) => <SessionStateBadge session={session} /> },
  { name: 'Events', className: 'w-28', cell: eventsText },
  { name: 'Updated', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
  {
    name: 'Actions',
    hideName: true,
    className: 'w-14 text-end',
    cell: (session) => <SessionMenu session={session} />,
  },
];

export const COLUMNS: readonly Column<Session>[] = [TITLE, ...OTHERS];
/** Columns of a list with the sessions of all users. */
export const COLUMNS_WITH_OWNER: readonly Column<Session>[] = [TITLE, OWNER, ...OTHERS];

/** A session on a narrow screen. */
export function SessionCard({ session, showsOwner }: { session: Session; showsOwner: boolean }) {
  return (
    <div className="flex items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <SessionTitle session={session} />
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
          <span className="max-w-full min-w-0">
            <SessionAgentLink session={session} />
          </span>
          <span className="max-w-full min-w-0 truncate">
            <SessionSource session={session} />
          </span>
          {showsOwner && <OwnerName session={session} />}
          <SessionStateBadge session={session} />
          {eventsText(session)}
          <Time at={session.updated_at} />
        </div>
      </div>
      <SessionMenu session={session} />
    </div>
  );
}
