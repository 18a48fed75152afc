import { FieldProblems } from '../../../lib/field-problems.ts';

export interface PageRequest {
  limit: number;
  cursor: string;
}

const FIRST_PAGE: PageRequest = { limit: 50, cursor: '' };

/** Returns the requested page, or the first one. Refused with INVALID_REQUEST for an invalid page size. */
export function checkPage(page: PageRequest = FIRST_PAGE): PageRequest {
  const problems = new FieldProblems();
  problems.range('/limit', page.limit, 1, 100);
  problems.throwIfAny();
  return page;
}
