import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { assistants as assistantsApi } from '../../api/assistants.ts';
import { readAssistantSearch } from '../../pages/assistants/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { readTextSearch } from '../../parts/navigation/search-params.ts';
import { under } from './root.ts';

const assistants = createRoute({
  getParentRoute: under,
  path: '/assistants',
  validateSearch: readTextSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(assistantsApi.list(q));
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/assistants/assistants.tsx')),
    'AssistantsPage',
  ),
});

const newAssistant = createRoute({
  getParentRoute: under,
  path: '/assistants/new',
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/assistants/new.tsx')),
    'NewAssistantPage',
  ),
});

const assistant = createRoute({
  getParentRoute: under,
  path: '/assistants/$assistantId',
  validateSearch: readAssistantSearch,
  loaderDeps: ({ search: { tab } }) => ({ tab }),
  loader({ context: { queries }, params: { assistantId }, deps: { tab } }) {
    void queries.prefetchQuery(assistantsApi.detail(assistantId));
    if (tab !== 'files') return;
    void queries.prefetchQuery(assistantsApi.workspace(assistantId));
    void import('../../parts/files/browser.tsx').catch(() => {});
  },
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/assistants/assistant.tsx')),
    'AssistantPage',
  ),
});

export const assistantsRoutes = [assistants, newAssistant, assistant] as const;
