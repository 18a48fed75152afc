import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { sessions as sessionsApi } from '../../api/sessions.ts';
import { newestPage } from '../../journal/event-pages.ts';
import {
  filtersOf,
  readSessionSearch,
  readSessionsSearch,
  type SessionView,
} from '../../pages/sessions/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { under } from './root.ts';

const sessions = createRoute({
  getParentRoute: under,
  path: '/sessions',
  validateSearch: readSessionsSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps }) {
    void queries.prefetchInfiniteQuery(sessionsApi.list(filtersOf(deps), deps.all));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/sessions/sessions.tsx')),
    'SessionsPage',
  ),
});

/** Loads the code of a view of the session page that is not part of the page. */
const SESSION_VIEWS: Record<SessionView, () => Promise<unknown>> = {
  chat: () =>
    Promise.all([import('../../pages/sessions/chat/chat.tsx'), import('../../parts/text/markdown-text.tsx')]),
  timeline: () => import('../../pages/sessions/timeline/timeline.tsx'),
  raw: () => import('../../pages/sessions/raw/raw.tsx'),
  files: () => import('../../parts/files/browser.tsx'),
};

const session = createRoute({
  getParentRoute: under,
  path: '/sessions/$sessionId',
  validateSearch: readSessionSearch,
  loader({ context: { queries }, params: { sessionId }, location }) {
    void queries.prefetchQuery(sessionsApi.detail(sessionId));
    void queries.prefetchQuery(newestPage(sessionId));
    const { view = 'chat' } = readSessionSearch(location.search);
    void SESSION_VIEWS[view]().catch(() => {});
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/sessions/session.tsx')),
    'SessionPage',
  ),
});

export const sessionsRoutes = [sessions, session] as const;
