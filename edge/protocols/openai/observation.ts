import { ERRORS } from '../../../lib/error-codes.ts';
import { toRefusal } from '../../errors.ts';
import type { RawHandler, RouteContext } from '../../route.ts';

/** Counts the requests of an operation by their outcome. A stream counts as `ok` when it begins. */
export function observed(
  { protocolMetrics }: RouteContext,
  operation: string,
  handle: RawHandler,
): RawHandler {
  return async (request, reply) => {
    try {
      const result = await handle(request, reply);
      protocolMetrics.record('openai', operation, 'ok');
      return result;
    } catch (error) {
      const isRefused = ERRORS[toRefusal(error).code].status < 500;
      protocolMetrics.record('openai', operation, isRefused ? 'refused' : 'failed');
      throw error;
    }
  };
}
