import type { Clock } from '../../../lib/clock.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import { createCountedLog } from '../counted-log.ts';
import type { RefusalRow } from '../domain/invocations.ts';

/** A refused request to an existing deployment. Requests to unknown deployments are not logged. */
interface RefusedRequest {
  deploymentId: string;
  reason: string;
  bodyBytes: number;
  sourceAddress: string;
  /** req_… */
  requestId: string;
}

export interface RefusalLog {
  add(call: RefusedRequest): void;
  /** Writes the remaining rows. */
  stop(): Promise<void>;
}

interface RefusalLogContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  write(rows: RefusalRow[]): Promise<void>;
}

/** Logs refused requests to webhooks. */
export function createRefusalLog({ write, ...context }: RefusalLogContext): RefusalLog {
  const refusals = createCountedLog<RefusedRequest & { result: '' }>({
    ...context,
    prefix: 'inv',
    subject: 'refused webhook requests',
    write: (rows) => write(rows.map(({ id: invocationId, result: _, ...row }) => ({ ...row, invocationId }))),
  });
  return { add: (request) => refusals.add({ ...request, result: '' }), stop: refusals.stop };
}
