import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/clock.ts';
import type { ErrorCode } from '../../lib/error-codes.ts';
import type { Caller } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { Clients } from '../clients.ts';

interface RefusalAuditContext {
  clients: Clients;
  clock: Clock;
  log: Log;
}

interface RefusalAudit {
  /** Counts a refused request if its code belongs into the audit log. */
  record(request: FastifyRequest, code: ErrorCode): void;
  /** Stops the periodic write and writes the remaining counts. */
  stop(): Promise<void>;
}

/** The number of equal refusals since the last write. */
interface RefusalCount {
  caller: Caller | undefined;
  address: string;
  code: string;
  route: string;
  count: number;
}

const AUDITED_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNAUTHENTICATED',
  'TOKEN_EXPIRED',
  'SCOPE_INSUFFICIENT',
  'FORBIDDEN',
  'CSRF_REJECTED',
  'HOST_NOT_ALLOWED',
  'LOGIN_FAILED',
]);

const WRITE_INTERVAL_MS = 5_000;
/** A flood of refusals writes at most this many lines per interval. Further ones share one line. */
const MAX_COUNTS = 200;
const OTHERS: RefusalCount = { caller: undefined, address: '', code: 'others', route: '', count: 0 };

/**
 * Writes refused requests to the audit log, after their responses: one line per group of equal refusals, with their count.
 * Lines that cannot be written are kept for the next interval.
 */
export function startRefusalAudit({ clients, clock, log }: RefusalAuditContext): RefusalAudit {
  let counts = new Map<string, RefusalCount>();

  function add(refusal: RefusalCount): void {
    const { caller, address, code, route } = refusal;
    const key = [caller?.userId, caller?.credential, address, code, route].join(' ');
    const existing = counts.get(key) ?? (counts.size < MAX_COUNTS ? undefined : counts.get('others'));
    if (existing) existing.count += refusal.count;
    else if (counts.size < MAX_COUNTS) counts.set(key, refusal);
    else counts.set('others', { ...OTHERS, count: refusal.count });
  }

  async function write(): Promise<void> {
    const pending = [...counts.values()];
    counts = new Map();
    try {
      while (pending[0]) {
        await clients.auth.recordActs({ acts: [toAuditAct(pending[0])] }, { caller: pending[0].caller });
        pending.shift();
      }
    } catch (error) {
      pending.forEach(add);
      throw error;
    }
  }

  const task = startPeriodicTask({
    clock,
    everyMs: WRITE_INTERVAL_MS,
    work: write,
    onFailure: (error) =>
      log.warn({ err: error }, 'audit lines for refused requests could not be written; they are retried'),
  });

  return {
    record({ call, address, method, routeOptions }, code) {
      if (!AUDITED_CODES.has(code)) return;
      add({ caller: call?.caller, address, code, route: `${method} ${routeOptions?.url ?? ''}`, count: 1 });
    },

    async stop() {
      await task.stop();
      await write().catch((error: unknown) =>
        log.warn({ err: error, count: counts.size }, 'audit lines for refused requests are lost'),
      );
    },
  };
}

function toAuditAct({ address, code, route, count }: RefusalCount) {
  const dataJson = JSON.stringify({ code, route, count });
  return { action: 'access.refuse', targetId: '', outcome: 'refused', dataJson, address };
}
