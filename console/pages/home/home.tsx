import { useQuery } from '@tanstack/react-query';
import { agents } from '../../api/agents.ts';
import type { SessionState } from '../../api/session-state.ts';
import { sessions } from '../../api/sessions.ts';
import { readiness } from '../../api/system.ts';
import type { Session } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { useList } from '../../parts/resources/list.tsx';
import { SessionRows } from '../../parts/sessions/rows.tsx';
import { stateLabel } from '../../parts/sessions/state.ts';
import { useViewer } from '../../parts/users/viewer.ts';
import { Card, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Checklist } from './checklist.tsx';

const MAX_SESSIONS = 6;

/** Home page: sessions that wait for the user, recent sessions and the getting-started checklist. */
export function HomePage() {
  const { isAdministrator } = useViewer();
  const curlOf = useCurl();
  const recent = useQuery(sessions.newest());
  const input = useQuery(sessions.newest({ state: ['needs_input'] }));
  const approval = useQuery(sessions.newest({ state: ['needs_approval'] }));
  const agentList = useList(agents.list());
  const system = useQuery({ ...readiness, enabled: isAdministrator });
  const failure = useQueryFailure(recent);
  // The sections render together, so that late sections do not shift the page.
  const isOpening = !failure && [recent, input, approval, agentList.query].some(({ isPending }) => isPending);
  const actions = (
    <>
      <CopyCurl path="/sessions" />
      <ButtonLink to="/deployments/new">New deployment</ButtonLink>
      <ButtonLink to="/agents/new" look="primary">
        New agent
      </ButtonLink>
    </>
  );
  return (
    <Page title="Home" lead="Recent sessions, pending questions and approvals." actions={actions}>
      <div className="flex flex-col gap-5">
        {isOpening ? (
          <Skeleton lines={8} />
        ) : (
          <>
            {recent.data && agentList.query.data && (
              <Checklist sessions={recent.data} agent={agentList.items[0]} />
            )}
            {input.data && <WaitingSection state="needs_input" sessions={input.data} />}
            {approval.data && <WaitingSection state="needs_approval" sessions={approval.data} />}
            {recent.data && <SessionSection title="Recent sessions" sessions={recent.data} more={{}} />}
            {failure && <ErrorState {...failure} curl={curlOf({ path: '/sessions' })} />}
            {system.data?.in_force && <SystemSection parts={system.data.in_force} />}
          </>
        )}
      </div>
    </Page>
  );
}

function WaitingSection({ state, sessions }: { state: SessionState; sessions: Session[] }) {
  return <SessionSection title={stateLabel(state)} sessions={sessions} more={{ state }} />;
}

interface SessionSectionProps {
  title: string;
  sessions: Session[];
  /** Filter of the complete list. */
  more: { state?: SessionState };
}

function SessionSection({ title, sessions: found, more }: SessionSectionProps) {
  if (found.length === 0) return null;
  return (
    <section aria-label={title}>
      <div className="mb-2 flex items-baseline justify-between gap-4">
        <h2 className="font-semibold">{title}</h2>
        <TextLink to="/sessions" search={more}>
          Show all<span className="sr-only">: {title}</span>
        </TextLink>
      </div>
      <SessionRows sessions={found.slice(0, MAX_SESSIONS)} />
    </section>
  );
}

const ROLES: Record<string, string> = {
  database: 'Database',
  hints: 'Event hints',
  models: 'Models',
  identity: 'Identity',
  files: 'Files',
  sandbox: 'Sandboxes',
  'copy limits': 'Copy limits',
  'copy space': 'Copy space',
};

/** The implementation in use for each role of the system. */
function SystemSection({ parts }: { parts: readonly { role: string; in_force: string }[] }) {
  return (
    <section aria-label="This system">
      <h2 className="mb-2 font-semibold">This system</h2>
      <Card>
        <dl className="grid gap-x-6 gap-y-2 px-4 py-3 sm:grid-cols-[12rem_minmax(0,1fr)]">
          {parts.map(({ role, in_force: part }) => (
            <div key={role} className="contents">
              <dt className="text-muted">{ROLES[role] ?? role}</dt>
              <dd className="wrap-anywhere">{part}</dd>
            </div>
          ))}
        </dl>
      </Card>
    </section>
  );
}
