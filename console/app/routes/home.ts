import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agents as agentsApi } from '../../api/agents.ts';
import { sessions as sessionsApi } from '../../api/sessions.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { under } from './root.ts';

const home = createRoute({
  getParentRoute: under,
  path: '/',
  loader({ context: { queries } }) {
    void queries.prefetchQuery(sessionsApi.newest());
    void queries.prefetchQuery(sessionsApi.newest({ state: ['needs_input'] }));
    void queries.prefetchQuery(sessionsApi.newest({ state: ['needs_approval'] }));
    void queries.prefetchInfiniteQuery(agentsApi.list());
  },
  component: lazyRouteComponent(() => loadChunk(() => import('../../pages/home/home.tsx')), 'HomePage'),
});

export const homeRoutes = [home] as const;
