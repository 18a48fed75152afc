import { getRouteApi } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { type SessionFilters, sessions } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/copy-curl.tsx';
import { curlOf } from '../../parts/curl.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { List, useList } from '../../parts/list.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { SessionStatus } from '../../parts/status.tsx';
import { useViewer } from '../../parts/viewer.ts';
import { Empty } from '../../ui/empty.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { Time } from '../../ui/time.tsx';
import { filtersOf, type SessionsSearch, STATUSES } from './search.ts';

const route = getRouteApi('/sessions');
const POLL_MS = 5_000;

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
  const list = useList({ ...sessions.list(filters, search.all), refetchInterval: POLL_MS });
  const path = pathOf(search.all ? '/admin/sessions' : '/sessions', filters);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <Page
      title="Sessions"
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
        <Chosen search={search} onChange={change} />
      </search>
      <Card>
        <List
          list={list}
          curl={curlOf({ path, isTeam })}
          empty={<NoSessions isFiltered={isFiltered} isTeam={isTeam} />}
        >
          {(items) => (
            <ul className="divide-y divide-line">
              {items.map((session) => (
                <SessionRow key={session.session_id} session={session} />
              ))}
            </ul>
          )}
        </List>
      </Card>
    </Page>
  );
}

function pathOf(base: string, filters: SessionFilters): string {
  const set = Object.entries(filters).filter(([, value]) => value !== undefined && value !== false);
  const query = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return query ? `${base}?${query}` : base;
}

/** Where whoever came from an agent or a trigger sees what holds them here. */
function Chosen({ search, onChange }: { search: SessionsSearch; onChange: (part: SessionsSearch) => void }) {
  const chosen = [
    { text: 'Agent', id: search.agent, none: { agent: undefined } },
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

function SessionRow({ session }: { session: Session }) {
  const { session_id: sessionId, title, last_seq: events, updated_at: at } = session;
  return (
    <li className="relative grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-4 py-3 hover:bg-sunken sm:grid-cols-[minmax(0,1fr)_8.5rem_7rem]">
      <div className="min-w-0">
        <TextLink
          to="/sessions/$sessionId"
          params={{ sessionId }}
          dir="auto"
          title={title ?? undefined}
          className="block truncate after:absolute after:inset-0"
        >
          {title || 'Untitled'}
        </TextLink>
        <div className="truncate font-mono text-xs text-muted">{sessionId}</div>
      </div>
      <SessionStatus session={session} />
      <div className="relative col-span-2 text-[13px] text-muted sm:col-span-1 sm:text-end">
        <Time at={at} />
        <span className="sm:block"> {events.toLocaleString('en')} events</span>
      </div>
    </li>
  );
}

function NoSessions({ isFiltered, isTeam }: { isFiltered: boolean; isTeam: boolean }) {
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
        isTeam,
      })}
    >
      A session begins when somebody talks to an agent, or when a trigger is called.
    </Empty>
  );
}
