import { getRouteApi } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { sessions } from '../../api/sessions.ts';
import { useNewestAgents } from '../../parts/agents/agent-name.tsx';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { pathWithQuery } from '../../parts/curl/curl.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink } from '../../parts/navigation/links.tsx';
import { useList } from '../../parts/resources/list.tsx';
import { Listing } from '../../parts/resources/listing.tsx';
import { SearchField } from '../../parts/resources/search-field.tsx';
import { SESSION_STATES, stateLabel } from '../../parts/sessions/state.ts';
import { useViewer } from '../../parts/users/viewer.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { AgentFilter } from './agent-filter.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { COLUMNS, COLUMNS_WITH_OWNER, SessionCard } from './columns.tsx';
import { filtersOf, type SessionsSearch } from './search.ts';
import { SelectionContext, useSelectionState } from './selection.ts';

const route = getRouteApi('/sessions');

const STATE_FILTERS = [
  { value: 'any', text: 'Any state' },
  ...SESSION_STATES.map((value) => ({ value, text: stateLabel(value) })),
  { value: 'archived', text: 'Archived' },
] as const;
type StateFilter = (typeof STATE_FILTERS)[number]['value'];

const stateFilterOf = ({ state, archived }: SessionsSearch): StateFilter =>
  archived ? 'archived' : (state ?? 'any');

const searchOf = (filter: StateFilter): SessionsSearch => ({
  state: SESSION_STATES.find((state) => state === filter),
  archived: filter === 'archived' || undefined,
});

export function SessionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { isTeam, isAdministrator } = useViewer();
  const change = (part: SessionsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const filters = filtersOf(search);
  const list = useList(sessions.list(filters, search.all));
  const selection = useSelectionState();
  useNewestAgents();
  const showsOwner = search.all === true;
  const path = pathWithQuery(search.all ? '/admin/sessions' : '/sessions', filters);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <Page
      title="Sessions"
      wide
      lead="Conversations and runs of deployments with their current state."
      actions={<CopyCurl path={path} />}
    >
      <search className="mb-4 flex flex-wrap gap-2">
        <SearchField label="Search by title or ID" value={search.q} onChange={(q) => change({ q })} />
        <Select
          label="State"
          value={stateFilterOf(search)}
          options={STATE_FILTERS}
          onChange={(which) => change(searchOf(which))}
        />
        {isTeam && isAdministrator && (
          <Select
            label="Owner"
            value={search.all ? 'all' : 'mine'}
            options={[
              { value: 'mine', text: 'My sessions' },
              { value: 'all', text: 'All users' },
            ]}
            onChange={(owner) => change({ all: owner === 'all' || undefined })}
          />
        )}
        <AgentFilter agentId={search.agent} onChange={(agent) => change({ agent, assistant: undefined })} />
        <ActiveFilters search={search} onChange={change} />
      </search>
      <BulkActions sessions={list.items} selection={selection} />
      <SelectionContext value={selection}>
        <Listing
          noun="sessions"
          list={list}
          keyOf={({ session_id: id }) => id}
          columns={showsOwner ? COLUMNS_WITH_OWNER : COLUMNS}
          card={(session) => <SessionCard session={session} showsOwner={showsOwner} />}
          curl={{ path }}
          empty={<NoSessions isFiltered={isFiltered} />}
        />
      </SelectionContext>
    </Page>
  );
}

/** Filters set by links from an assistant or a deployment, with a button to remove each. */
function ActiveFilters({
  search,
  onChange,
}: {
  search: SessionsSearch;
  onChange: (part: SessionsSearch) => void;
}) {
  const chosen = [
    { text: 'Assistant', id: search.assistant, none: { assistant: undefined } },
    { text: 'Deployment', id: search.deployment, none: { deployment: undefined } },
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
        <span className="sr-only">: remove filter</span>
      </button>
    ));
}

function NoSessions({ isFiltered }: { isFiltered: boolean }) {
  const curlOf = useCurl();
  if (isFiltered) {
    const all = (
      <ButtonLink to="/sessions" search={{}}>
        Show all sessions
      </ButtonLink>
    );
    return (
      <EmptyState icon={<MessagesSquare />} action={all}>
        No matching sessions.
      </EmptyState>
    );
  }
  const start = (
    <ButtonLink look="primary" to="/agents">
      Choose an agent
    </ButtonLink>
  );
  return (
    <EmptyState
      icon={<MessagesSquare />}
      action={start}
      curl={curlOf({
        method: 'POST',
        path: '/agents/AGENT_ID/conversations',
        body: { message: 'Hello' },
      })}
    >
      No sessions yet. A session starts with a conversation or a deployment.
    </EmptyState>
  );
}
