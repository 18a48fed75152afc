import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext } from '@tanstack/react-router';
import { login } from '../../api/login.ts';
import { viewerOf } from '../../parts/users/viewer.ts';
import { Layout } from '../layout.tsx';

/** Route loaders request the data of a page while its code is still loading. */
interface RouterContext {
  queries: QueryClient;
}

/** The part of the query client that the loaders of pages use. */
type Prefetcher = Pick<QueryClient, 'prefetchQuery' | 'prefetchInfiniteQuery'>;

const NO_PREFETCHER: Prefetcher = {
  prefetchQuery: async () => {},
  prefetchInfiniteQuery: async () => {},
};

/** The login is requested before any other data. Until a user is logged in, the pages request nothing. */
export const root = createRootRouteWithContext<RouterContext>()({
  component: Layout,
  async beforeLoad({ context: { queries } }): Promise<{ queries: Prefetcher }> {
    const viewer = viewerOf(await queries.ensureQueryData(login));
    return { queries: viewer.isLoginRequired ? NO_PREFETCHER : queries };
  },
});
export const under = () => root;
