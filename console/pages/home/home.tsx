import { useQuery } from '@tanstack/react-query';
import { agents } from '../../api/agents.ts';
import { sessions } from '../../api/sessions.ts';
import { readiness } from '../../api/system.ts';
import type { Session } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { Failure } from '../../parts/faults/failure.tsx';
import { useFailure } from '../../parts/faults/use-failure.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { useList } from '../../parts/lists/list.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { SessionRows } from '../../parts/sessions/rows.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Checklist } from './checklist.tsx';

const SHOWN = 6;

/** What wants attention, and for whoever is new how to begin. */
export function HomePage() {
  const { isAdministrator } = useViewer();
  const curlOf = useCurl();
  const recent = useQuery(sessions.newest());
  const asking = useQuery(sessions.newest({ needs_action: true }));
  const known = useList(agents.list());
  const system = useQuery({ ...readiness, enabled: isAdministrator });
  const failure = useFailure(recent);
  // What stands above others does not come after them.
  const isOpening = !failure && [recent, asking, known.query].some(({ isPending }) => isPending);
  const actions = (
    <>
      <CopyCurl path="/sessions" />
      <ButtonLink to="/triggers/new">New trigger</ButtonLink>
      <ButtonLink to="/agents/new" look="primary">
        New agent
      </ButtonLink>
    </>
  );
  return (
    <Page title="Home" lead="Agents that work for you, and what they are doing." actions={actions}>
      <div className="flex flex-col gap-5">
        {isOpening ? (
          <Skeleton lines={8} />
        ) : (
          <>
            {recent.data && known.query.data && <Checklist sessions={recent.data} agent={known.items[0]} />}
            {asking.data && (
              <Some title="Waiting for you" sessions={asking.data} more={{ needsAction: true }} />
            )}
            {recent.data && <Some title="Recent sessions" sessions={recent.data} more={{}} />}
            {failure && <Failure {...failure} curl={curlOf({ path: '/sessions' })} />}
            {system.data?.in_force && <System parts={system.data.in_force} />}
          </>
        )}
      </div>
    </Page>
  );
}

interface SomeProps {
  title: string;
  sessions: Session[];
  /** Where all of them are. */
  more: { needsAction?: true };
}

function Some({ title, sessions: found, more }: SomeProps) {
  if (found.length === 0) return null;
  return (
    <section aria-label={title}>
      <div className="mb-2 flex items-baseline justify-between gap-4">
        <h2 className="font-semibold">{title}</h2>
        <TextLink to="/sessions" search={more}>
          Show all<span className="sr-only">: {title}</span>
        </TextLink>
      </div>
      <SessionRows sessions={found.slice(0, SHOWN)} />
    </section>
  );
}

const ROLES: Record<string, string> = {
  database: 'Database',
  hints: 'Hints between processes',
  models: 'Models',
  identity: 'Identity',
  files: 'Files',
  sandbox: 'Sandboxes',
};

/** Which part fills which role here, and whether all are well. */
function System({ parts }: { parts: readonly { role: string; in_force: string }[] }) {
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
