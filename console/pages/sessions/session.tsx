import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { FolderX } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { isMissing } from '../../api/client.ts';
import { sessions } from '../../api/sessions.ts';
import { chatOf } from '../../journal/chat.ts';
import { useJournal } from '../../journal/use-journal.ts';
import { waitingFor } from '../../journal/waiting.ts';
import { curlOf } from '../../parts/curl/curl.ts';
import { Failure } from '../../parts/faults/failure.tsx';
import { NotFound } from '../../parts/faults/not-found.tsx';
import { useFailure } from '../../parts/faults/use-failure.ts';
import { ButtonLink } from '../../parts/links.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { piece } from '../../parts/piece.ts';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Chat } from './chat/chat.tsx';
import { useFreshSession } from './fresh.ts';
import { SessionHeader } from './header.tsx';
import { Lost } from './lost.tsx';
import { Raw } from './raw/raw.tsx';
import type { SessionSearch } from './search.ts';
import { Spoken } from './spoken.tsx';
import { Timeline } from './timeline/timeline.tsx';

const FileBrowser = lazy(async () => ({
  default: (await piece(() => import('../../parts/files/browser.tsx'))).FileBrowser,
}));

const route = getRouteApi('/sessions/$sessionId');

const TABS = [
  { value: 'chat', text: 'Chat' },
  { value: 'timeline', text: 'Timeline' },
  { value: 'raw', text: 'Raw' },
  { value: 'files', text: 'Files' },
] as const;

export function SessionPage() {
  const { sessionId } = route.useParams();
  // Another session is another page: nothing of the one before stays.
  return <OneSession key={sessionId} sessionId={sessionId} />;
}

function OneSession({ sessionId }: { sessionId: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { user, isTeam } = useViewer();
  const query = useQuery(sessions.one(sessionId));
  const failure = useFailure(query);
  const { view, loadEarlier, reopen, isReopening } = useJournal(sessionId);
  // It stays while another view is looked at.
  const [draft, setDraft] = useState('');
  const chat = useMemo(() => (view ? chatOf(view) : []), [view]);
  useFreshSession(sessionId, view?.events);
  const session = query.data;
  if (!session || !view) {
    if (isMissing(failure?.error)) return <NotFound />;
    if (!failure) return <Skeleton lines={8} />;
    return (
      <Page title="Session">
        <Failure
          {...failure}
          onRetry={() => {
            failure.onRetry();
            reopen();
          }}
          curl={curlOf({ path: `/sessions/${sessionId}`, isTeam })}
        />
      </Page>
    );
  }
  const go = (part: SessionSearch) => void navigate({ search: (before) => ({ ...before, ...part }) });
  const tab = search.view ?? 'chat';
  const hasLine = tab === 'chat' || tab === 'timeline';
  const isMine = session.created_by === user?.user_id;
  const isGone =
    isMissing(query.error) || isMissing(view.error) || view.events.at(-1)?.type === 'session.deleted';
  const mayWrite = isMine && !isGone && session.archived_at === null && session.status !== 'terminated';
  const fileSeq = view.events.findLast(({ type }) => type.startsWith('file.'))?.seq ?? 0;
  const shared = {
    session,
    // There is nobody any more who could be asked for it.
    view: isGone ? { ...view, hasEarlier: false } : view,
    chat,
    mayWrite,
    event: search.event,
    onEvent: (event?: number) => go({ event }),
  };
  return (
    <div className="flex h-[calc(100dvh-3rem)] flex-col md:h-dvh">
      <SessionHeader session={session} view={view} isMine={isMine && !isGone} />
      <Lost isGone={isGone} error={view.error} isTrying={isReopening} onRetry={reopen} />
      <Spoken
        view={view}
        chat={chat}
        waiting={session.needs_action && !hasLine ? waitingFor(view, chat) : undefined}
      />
      <Tabs
        label="Views of the session"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => go({ view: chosen === 'chat' ? undefined : chosen })}
        className="flex min-h-0 flex-1 flex-col [&>[role=tablist]]:px-3 sm:[&>[role=tablist]]:px-7 [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col"
      >
        {tab === 'chat' && (
          <Chat
            {...shared}
            waiting={waitingFor(view, chat)}
            onEarlier={loadEarlier}
            draft={draft}
            onDraft={setDraft}
            onRaw={(event) => go({ view: 'raw', event })}
          />
        )}
        {tab === 'timeline' && (
          <Timeline {...shared} waiting={waitingFor(view, chat)} onEarlier={loadEarlier} />
        )}
        {tab === 'raw' && <Raw {...shared} types={search.types} onTypes={(types) => go({ types })} />}
        {tab === 'files' && (
          <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 sm:px-8">
            <Suspense fallback={<Skeleton />}>
              {isGone ? (
                <GoneFiles />
              ) : (
                <FileBrowser
                  place={{ kind: 'session', id: sessionId }}
                  path={search.path}
                  onPath={(path) => go({ path })}
                  readOnly={!mayWrite}
                  change={fileSeq}
                />
              )}
            </Suspense>
          </div>
        )}
      </Tabs>
    </div>
  );
}

/** Of files nothing is kept that could still be shown. */
function GoneFiles() {
  return (
    <Empty icon={<FolderX />} action={<ButtonLink to="/sessions">Show your sessions</ButtonLink>}>
      The files of this session cannot be read any more.
    </Empty>
  );
}
