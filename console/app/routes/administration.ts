import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readAdministrationSearch } from '../../pages/administration/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { under } from './root.ts';

const administration = createRoute({
  getParentRoute: under,
  path: '/administration',
  validateSearch: readAdministrationSearch,
  component: lazyRouteComponent(
    () => loadChunk(() => import('../../pages/administration/administration.tsx')),
    'AdministrationPage',
  ),
});

export const administrationRoutes = [administration] as const;
