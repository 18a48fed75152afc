import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { FolderX } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { isNotFound } from '../../api/client.ts';
import { isWritable } from '../../api/session-state.ts';
import { sessions } from '../../api/sessions.ts';
import { activityOf } from '../../journal/activity.ts';
import { useJournal } from '../../journal/use-journal.ts';
import { curlOf } from '../../parts/curl/curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { NotFound } from '../../parts/errors/not-found.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { ButtonLink } from '../../parts/navigation/links.tsx';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { useViewer } from '../../parts/users/viewer.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useSessionRefresh } from './cache-refresh.ts';
import { useAttachments } from './chat/attachments/use-attachments.ts';
import { DisconnectedBanner } from './disconnected-banner.tsx';
import { SessionHeader } from './header.tsx';
import { LiveRegion } from './live-region.tsx';
import type { SessionSearch } from './search.ts';

// The router loads the code of the opened view together with the page.
const Chat = lazy(async () => ({
  default: (await loadChunk(() => import('./chat/chat.tsx'))).Chat,
}));
const Timeline = lazy(async () => ({
  default: (await loadChunk(() => import('./timeline/timeline.tsx'))).Timeline,
}));
const RawJournal = lazy(async () => ({
  default: (await loadChunk(() => import('./raw/raw.tsx'))).RawJournal,
}));
const FileBrowser = lazy(async () => ({
  default: (await loadChunk(() => import('../../parts/files/browser.tsx'))).FileBrowser,
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
  // The key resets all state when the session changes.
  return <SessionContent key={sessionId} sessionId={sessionId} />;
}

function SessionContent({ sessionId }: { sessionId: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { user, isTeam } = useViewer();
  const query = useQuery(sessions.detail(sessionId));
  const failure = useQueryFailure(query);
  const tab = search.view ?? 'chat';
  const linkedEvent = tab === 'chat' ? search.event : undefined;
  const { view, loadEarlier, loadLater, reopen, isReopening } = useJournal(sessionId, linkedEvent);
  // Kept here so that the message survives a change of the view.
  const [draft, setDraft] = useState('');
  const attachments = useAttachments();
  const session = query.data;
  useSessionRefresh(sessionId, session, view?.events);
  if (!session || !view) {
    if (isNotFound(failure?.error)) return <NotFound />;
    if (!failure) return <Skeleton lines={8} />;
    return (
      <Page title="Session">
        <ErrorState
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
  const { chat } = view;
  const go = (part: SessionSearch) => void navigate({ search: (before) => ({ ...before, ...part }) });
  const showsActivity = tab === 'chat' || tab === 'timeline';
  const isMine = session.created_by === user?.user_id;
  const isDeleted =
    isNotFound(query.error) || isNotFound(view.error) || view.events.at(-1)?.type === 'session.deleted';
  const mayWrite = isMine && !isDeleted && isWritable(session);
  const shared = {
    session,
    // Earlier events of a deleted session cannot be loaded.
    view: isDeleted ? { ...view, hasEarlier: false, excerpt: undefined } : view,
    mayWrite,
    event: search.event,
    onEvent: (event?: number) => go({ event }),
  };
  return (
    <div className="flex h-[calc(100dvh-3rem)] flex-col md:h-dvh">
      <SessionHeader session={session} view={view} isDeleted={isDeleted} />
      <DisconnectedBanner
        isDeleted={isDeleted}
        error={view.error}
        isRetrying={isReopening}
        onRetry={reopen}
      />
      <LiveRegion
        view={view}
        chat={chat}
        activity={session.needs_action && !showsActivity ? activityOf(view, chat) : undefined}
      />
      <Tabs
        label="Session views"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => go({ view: chosen === 'chat' ? undefined : chosen })}
        className="flex min-h-0 flex-1 flex-col [&>[role=tablist]]:px-3 sm:[&>[role=tablist]]:px-7 [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col"
      >
        <Suspense fallback={<Skeleton />}>
          {tab === 'chat' && (
            <Chat
              {...shared}
              activity={activityOf(view, chat)}
              onEarlier={loadEarlier}
              onLater={loadLater}
              draft={draft}
              onDraft={setDraft}
              attachments={attachments}
              onRaw={(event) => go({ view: 'raw', event })}
            />
          )}
          {tab === 'timeline' && <Timeline {...shared} activity={activityOf(view, chat)} />}
          {tab === 'raw' && (
            <RawJournal {...shared} types={search.types} onTypes={(types) => go({ types })} />
          )}
          {tab === 'files' && (
            <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 sm:px-8">
              {isDeleted ? (
                <DeletedSessionFiles />
              ) : (
                <FileBrowser
                  workspace={{ kind: 'session', id: sessionId }}
                  path={search.path}
                  onPath={(path) => go({ path })}
                  readOnly={!mayWrite}
                  change={view.lastFileSeq}
                />
              )}
            </div>
          )}
        </Suspense>
      </Tabs>
    </div>
  );
}

/** Files of a deleted session are not cached. */
function DeletedSessionFiles() {
  return (
    <EmptyState icon={<FolderX />} action={<ButtonLink to="/sessions">Show your sessions</ButtonLink>}>
      The files of this session are no longer available.
    </EmptyState>
  );
}
