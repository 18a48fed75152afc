import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { type FieldProblem, refuse } from '../../lib/errors.ts';
import type { Readiness } from '../../lib/modules.ts';
import type { Access } from '../access.ts';
import type { EdgeContext } from '../context.ts';
import { checkAdministrator, type Door } from '../door/door.ts';
import { ok } from '../envelope.ts';
import { createQueryReader, type RawQuery } from '../input/query.ts';
import { closed, optional } from '../schemas/common.ts';

type Config = { config: { access: Access } };

const JSON_TYPE = 'application/json; charset=utf-8';
const ReadyQuery = closed({ verbose: optional(Type.String()) });

const OPEN: Config = { config: { access: 'open' } };
const ADMIN: Config = { config: { access: 'admin' } };

/**
 * What machines ask a process: is it there, can it work, how much has it done. Where people log in, whatever tells
 * more than yes or no is for administrators.
 */
export function serveOperations(
  app: FastifyInstance,
  { readiness, standIns, metrics }: EdgeContext,
  door: Door,
): void {
  const readQuery = createQueryReader(ReadyQuery);
  const isLocal = door.mode === 'local';

  app.get('/livez', OPEN, async (_, reply) => {
    reply.type(JSON_TYPE);
    return ok({ status: 'alive' }).text;
  });

  for (const url of ['/readyz', '/healthz']) {
    app.get(url, OPEN, async (request, reply) => {
      const { verbose } = readQuery(request.query as RawQuery);
      if (verbose !== undefined && !isLocal) {
        await door.admit(request, reply, 'admin');
        checkAdministrator(request);
      }
      const checks = await readiness();
      const broken = checks.filter((check) => !check.ok);
      if (broken.length > 0) {
        const isToldWhy = isLocal || verbose !== undefined;
        const message = broken
          .map(({ name, problem }) => (isToldWhy ? `${name}: ${problem}` : name))
          .join(isToldWhy ? '; ' : ', ');
        const details = verbose === undefined ? [] : checks.map(detailOf);
        throw refuse('DEPENDENCY_UNAVAILABLE', message, { retryAfterSeconds: 1, details });
      }
      reply.type(JSON_TYPE);
      if (verbose === undefined) return ok({ status: 'ready' }).text;
      return ok({
        status: 'ready',
        checks: checks.map(({ name, latencyMs }) => ({
          name,
          status: 'ok',
          latency_ms: shownLatency(latencyMs),
        })),
        in_force: standIns.map(({ role, inForce }) => ({ role, in_force: inForce })),
      }).text;
    });
  }

  // Where nobody logs in it needs no auth to look at them, which may be what does not work.
  app.get('/metrics', isLocal ? OPEN : ADMIN, async (request, reply) => {
    if (!isLocal) checkAdministrator(request);
    reply.type(metrics.contentType);
    return metrics.text();
  });
}

function shownLatency(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** When one part is broken, the others are listed beside it. */
function detailOf({ name, problem, latencyMs }: Readiness): FieldProblem {
  return { pointer: `/checks/${name}`, message: `${problem ?? 'ok'} (${shownLatency(latencyMs)} ms)` };
}
