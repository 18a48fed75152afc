import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { environments as environmentsApi } from '../../api/environments.ts';
import { readEnvironmentSearch } from '../../pages/environments/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { readTextSearch } from '../../parts/navigation/search-params.ts';
import { under } from './root.ts';

const loadEnvironmentPages = () => loadChunk(() => import('../../pages/environments/pages.ts'));
const environments = createRoute({
  getParentRoute: under,
  path: '/environments',
  validateSearch: readTextSearch,
  loaderDeps: ({ search }) => search,
  loader({ context: { queries }, deps: { q } }) {
    void queries.prefetchInfiniteQuery(environmentsApi.list(q));
  },
  component: lazyRouteComponent(loadEnvironmentPages, 'EnvironmentsPage'),
});

const newEnvironment = createRoute({
  getParentRoute: under,
  path: '/environments/new',
  component: lazyRouteComponent(loadEnvironmentPages, 'NewEnvironmentPage'),
});

const environment = createRoute({
  getParentRoute: under,
  path: '/environments/$environmentId',
  validateSearch: readEnvironmentSearch,
  loader({ context: { queries }, params: { environmentId } }) {
    void queries.prefetchQuery(environmentsApi.detail(environmentId));
  },
  component: lazyRouteComponent(loadEnvironmentPages, 'EnvironmentPage'),
});

export const environmentsRoutes = [environments, newEnvironment, environment] as const;
