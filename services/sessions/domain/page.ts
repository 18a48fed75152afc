import { refuseField } from '../../../lib/errors.ts';

interface PageRequest {
  limit: number;
  cursor: string;
}

const FIRST_PAGE: PageRequest = { limit: 50, cursor: '' };
const MAX_PAGE = 100;
const MAX_HISTORY_PAGE = 1_000;
/** Larger than a page, because the service deployments merges the list with a list of its own. */
const MAX_DEPLOYMENT_SESSIONS = 1_000;

/** Default: the first page. Refused with INVALID_REQUEST if the limit is out of range. */
export function checkPage(page: PageRequest = FIRST_PAGE): PageRequest {
  checkLimit(page.limit, MAX_PAGE);
  return page;
}

/**
 * The page of a history for a runner, which reads all of it: the largest limit stands for more events. Runners cannot ask for
 * them, because releases before this one refuse it.
 */
export function checkHistoryPage(page: PageRequest | undefined): PageRequest {
  const { limit, cursor } = checkPage(page);
  return { limit: limit === MAX_PAGE ? MAX_HISTORY_PAGE : limit, cursor };
}

/** Refused with INVALID_REQUEST if the limit is out of range. */
export function checkDeploymentSessionsLimit(limit: number): number {
  return checkLimit(limit, MAX_DEPLOYMENT_SESSIONS);
}

function checkLimit(limit: number, max: number): number {
  if (limit < 1 || limit > max) throw refuseField('/limit', `must be from 1 to ${max}`);
  return limit;
}
