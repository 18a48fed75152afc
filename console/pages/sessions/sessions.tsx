import { getRouteApi } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { sessions } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { AgentOf, useNewestAgents } from '../../parts/agent-name.tsx';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { pathWith } from '../../parts/curl/curl.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { useList } from '../../parts/lists/list.tsx';
import { Listing } from '../../parts/lists/listing.tsx';
import type { Column } from '../../parts/lists/long-list.tsx';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { SessionStatus } from '../../parts/sessions/status.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { Time } from '../../ui/time.tsx';
import { AgentFilter } from './agent-filter.tsx';
import { filtersOf, type SessionsSearch, STATUSES } from './search.ts';

const route = getRouteApi('/sessions');

const WHICH = [
  { value: 'any', text: 'Any state' },
  { value: 'needsAction', text: 'Needs you' },
  { value: 'pending', text: 'Pending' },
  { value: 'running', text: 'Running' },
  { value: 'rescheduling', text: 'Retrying' },
  { value: 'idle', text: 'Idle' },
  { value: 'terminated', text: 'Terminated' },
  { value: 'archived', text: 'Archived' },
] as const;
type Which = (typeof WHICH)[number]['value'];

function whichIn({ status, needsAction, archived }: SessionsSearch): Which {
  if (needsAction) return 'needsAction';
  return archived ? 'archived' : (status ?? 'any');
}

function searchOf(which: Which): SessionsSearch {
  return {
    status: STATUSES.find((status) => status === which),
    needsAction: which === 'needsAction' || undefined,
    archived: which === 'archived' || undefined,
  };
}

export function SessionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { isTeam, isAdministrator } = useViewer();
  const change = (part: SessionsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const filters = filtersOf(search);
  const list = useList(sessions.list(filters, search.all));
  useNewestAgents();
  const path = pathWith(search.all ? '/admin/sessions' : '/sessions', filters);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <Page
      title="Sessions"
      wide
      lead="What agents have done, are doing, and are waiting for."
      actions={<CopyCurl path={path} />}
    >
      <search className="mb-4 flex flex-wrap gap-2">
        <SearchField label="Search by title or id" value={search.q} onChange={(q) => change({ q })} />
        <Select
          label="State"
          value={whichIn(search)}
          options={WHICH}
          onChange={(which) => change(searchOf(which))}
        />
        {isTeam && isAdministrator && (
          <Select
            label="Whose"
            value={search.all ? 'all' : 'mine'}
            options={[
              { value: 'mine', text: 'Mine' },
              { value: 'all', text: 'Everybody’s' },
            ]}
            onChange={(whose) => change({ all: whose === 'all' || undefined })}
          />
        )}
        <AgentFilter agentId={search.agent} onChange={(agent) => change({ agent, assistant: undefined })} />
        <Chosen search={search} onChange={change} />
      </search>
      <Listing
        noun="sessions"
        list={list}
        keyOf={({ session_id: id }) => id}
        columns={COLUMNS}
        card={(session) => <SessionCard session={session} />}
        curl={{ path }}
        empty={<NoSessions isFiltered={isFiltered} />}
      />
    </Page>
  );
}

/** Where whoever came from an assistant or a trigger sees what holds them here. */
function Chosen({ search, onChange }: { search: SessionsSearch; onChange: (part: SessionsSearch) => void }) {
  const chosen = [
    { text: 'Assistant', id: search.assistant, none: { assistant: undefined } },
    { text: 'Trigger', id: search.trigger, none: { trigger: undefined } },
  ];
  return chosen
    .filter(({ id }) => id !== undefined)
    .map(({ text, id, none }) => (
      <button
        key={text}
        type="button"
        onClick={() => onChange(none)}
        className="flex h-9 max-w-full items-center gap-2 rounded-lg bg-accent-soft px-3 text-accent"
      >
        <span className="truncate">
          {text} <span className="font-mono text-xs">{id}</span>
        </span>
        <span aria-hidden>×</span>
        <span className="sr-only">: show all</span>
      </button>
    ));
}

function Title({ session: { session_id: sessionId, title } }: { session: Session }) {
  return (
    <TextLink to="/sessions/$sessionId" params={{ sessionId }} className="block">
      <Cut text={title || 'Untitled'} />
      <Cut text={sessionId} mono className="text-xs font-normal text-muted" />
    </TextLink>
  );
}

function SessionCard({ session }: { session: Session }) {
  return (
    <div className="flex flex-col gap-1.5">
      <Title session={session} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <span className="max-w-full min-w-0">
          <AgentOf session={session} />
        </span>
        <SessionStatus session={session} />
        {eventsText(session)}
        <Time at={session.updated_at} />
      </div>
    </div>
  );
}

const eventsText = ({ last_seq: events }: Session) => `${events.toLocaleString('en')} events`;

const COLUMNS: readonly Column<Session>[] = [
  { name: 'Title', cell: (session) => <Title session={session} /> },
  { name: 'Agent', className: 'w-[18%]', cell: (session) => <AgentOf session={session} /> },
  { name: 'State', className: 'w-40', cell: (session) => <SessionStatus session={session} /> },
  { name: 'Journal', className: 'w-28', cell: eventsText },
  { name: 'Changed', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

function NoSessions({ isFiltered }: { isFiltered: boolean }) {
  const curlOf = useCurl();
  if (isFiltered) {
    const all = (
      <ButtonLink to="/sessions" search={{}}>
        Show all sessions
      </ButtonLink>
    );
    return (
      <Empty icon={<MessagesSquare />} action={all}>
        No session is like that.
      </Empty>
    );
  }
  const start = (
    <ButtonLink look="primary" to="/agents">
      Choose an agent
    </ButtonLink>
  );
  return (
    <Empty
      icon={<MessagesSquare />}
      action={start}
      curl={curlOf({
        method: 'POST',
        path: '/agents/AGENT_ID/conversations',
        body: { message: 'Hello' },
      })}
    >
      A session begins when somebody talks to an agent, or when a trigger is called.
    </Empty>
  );
}
