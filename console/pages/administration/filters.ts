import { getRouteApi } from '@tanstack/react-router';
import type { AdministrationSearch } from './search.ts';

const route = getRouteApi('/administration');

/** What stands in the URL, and how to change a part of it. */
export function useFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (changes: Partial<AdministrationSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  return { search, set };
}
