import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/clock.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { Caller } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import { startRounds } from '../../lib/rounds.ts';
import type { Clients } from '../clients.ts';

export interface RefusalsContext {
  clients: Clients;
  clock: Clock;
  log: Log;
}

export interface Refusals {
  /** Takes note of a request that was refused, if that is for the audit log. */
  note(request: FastifyRequest, code: ErrorCode): void;
  /** Writes down what is left. */
  stop(): Promise<void>;
}

/** Like ones of the same round, counted. */
interface Tally {
  caller: Caller | undefined;
  address: string;
  code: string;
  route: string;
  count: number;
}

const FOR_THE_AUDIT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNAUTHENTICATED',
  'TOKEN_EXPIRED',
  'SCOPE_INSUFFICIENT',
  'FORBIDDEN',
  'CSRF_REJECTED',
  'HOST_NOT_ALLOWED',
  'LOGIN_FAILED',
]);

const EVERY_MS = 5_000;
/** Whoever floods the service costs no more than so many lines each round. */
const MAX_TALLIES = 200;
const OTHERS: Tally = { caller: undefined, address: '', code: 'others', route: '', count: 0 };

/**
 * Has requests that were refused written down in the audit log, after their answers have left: like ones together, with
 * how many there were. What cannot be written down is kept for the next round.
 */
export function openRefusals({ clients, clock, log }: RefusalsContext): Refusals {
  let tallies = new Map<string, Tally>();

  function add(tally: Tally): void {
    const { caller, address, code, route } = tally;
    const key = [caller?.userId, caller?.credential, address, code, route].join(' ');
    const known = tallies.get(key) ?? (tallies.size < MAX_TALLIES ? undefined : tallies.get('others'));
    if (known) known.count += tally.count;
    else if (tallies.size < MAX_TALLIES) tallies.set(key, tally);
    else tallies.set('others', { ...OTHERS, count: tally.count });
  }

  async function write(): Promise<void> {
    const taken = [...tallies.values()];
    tallies = new Map();
    try {
      while (taken[0]) {
        await clients.auth.recordActs({ acts: [actOf(taken[0])] }, { caller: taken[0].caller });
        taken.shift();
      }
    } catch (error) {
      taken.forEach(add);
      throw error;
    }
  }

  const rounds = startRounds({
    clock,
    everyMs: EVERY_MS,
    work: write,
    onFailure: (error) => log.warn({ err: error }, 'refused requests cannot be written down, and will be'),
  });

  return {
    note({ call, address, method, routeOptions }, code) {
      if (!FOR_THE_AUDIT.has(code)) return;
      add({ caller: call?.caller, address, code, route: `${method} ${routeOptions?.url ?? ''}`, count: 1 });
    },

    async stop() {
      await rounds.stop();
      await write().catch((error: unknown) =>
        log.warn({ err: error, count: tallies.size }, 'refused requests were not written down'),
      );
    },
  };
}

function actOf({ address, code, route, count }: Tally) {
  const dataJson = JSON.stringify({ code, route, count });
  return { action: 'access.refuse', targetId: '', outcome: 'refused', dataJson, address };
}
