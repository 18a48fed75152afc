import { getRouteApi } from '@tanstack/react-router';
import type { AdministrationSearch } from './search.ts';

const route = getRouteApi('/administration');

/** The query parameters of the administration page and a function that changes some of them. */
export function useAdministrationSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (changes: Partial<AdministrationSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  return { search, set };
}
