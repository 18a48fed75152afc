import { Type } from 'typebox';
import { type FieldProblem, refuse } from '../../lib/errors.ts';
import { type Readiness, statusOf } from '../../lib/modules.ts';
import { requireAdministrator } from '../authentication/authenticator.ts';
import { ok } from '../envelope.ts';
import type { RawQuery } from '../input/query.ts';
import { SECURITY } from '../openapi/security.ts';
import { type RawHandler, type RouteContext, route } from '../route.ts';
import { closed, optional } from '../schemas/common.ts';
import { factsOfChannelWorkers } from './channel-worker-facts.ts';
import { backendsOfRunners } from './runner-backends.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

const Ready = Type.Object(
  {
    status: Type.Union([Type.Literal('ready'), Type.Literal('degraded')], {
      description: 'In status `degraded` an optional part fails; `verbose` names it.',
    }),
    checks: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ examples: ['sessions'] }),
          status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
          problem: Type.Optional(
            Type.String({
              description: 'The reason for the status `degraded`.',
              examples: ['Redis does not answer within 1000 ms'],
            }),
          ),
          latency_ms: Type.Number({ minimum: 0, examples: [0.42] }),
        }),
      ),
    ),
    in_force: Type.Optional(
      Type.Array(
        Type.Object(
          { role: Type.String(), in_force: Type.String() },
          {
            description: 'The implementation that is used for a role.',
            examples: [{ role: 'hints', in_force: 'in this process' }],
          },
        ),
      ),
    ),
  },
  { title: 'Readiness' },
);

const ReadyQuery = closed({
  verbose: optional(
    Type.String({
      description:
        'Lists each check with its latency, and the backend of each role. Requires an administrator unless the service runs ' +
        'in local mode.',
      allowEmptyValue: true,
    }),
  ),
});

const readinessRoute = (path: string, operationId: string, summary: string) =>
  route.raw({
    method: 'GET',
    path,
    atRoot: true,
    access: 'open',
    // The plain check needs no credential, `verbose` needs an administrator.
    security: [{}, ...SECURITY],
    operationId,
    tag: 'Operations',
    summary,
    description: 'A readiness probe. Returns 503 while a required part does not work.',
    query: ReadyQuery,
    responses: {
      200: {
        description: 'Every required part works. In status `degraded`, an optional part fails.',
        data: Ready,
      },
    },
    impliedErrors: 'none',
    errors: [
      'HOST_NOT_ALLOWED',
      'CSRF_REJECTED',
      'INVALID_REQUEST',
      'INVALID_TEXT',
      'DEPENDENCY_UNAVAILABLE',
      'UNAUTHENTICATED',
      'TOKEN_EXPIRED',
      'SCOPE_INSUFFICIENT',
      'RATE_LIMITED',
      'FORBIDDEN',
    ],
    createHandler: (context, readQuery) =>
      createReadinessHandler(context, (query) => readQuery(query).verbose !== undefined),
  });

function createReadinessHandler(
  { readiness, backends, authenticator, clients, clock }: RouteContext,
  isVerbose: (query: RawQuery) => boolean,
): RawHandler {
  const isLocal = authenticator.mode === 'local';
  const factsOfOthers = async () => {
    const facts = [backendsOfRunners(clients, backends), factsOfChannelWorkers(clients, backends, clock)];
    return (await Promise.all(facts)).flat();
  };
  return async (request, reply) => {
    const verbose = isVerbose(request.query as RawQuery);
    if (verbose && !isLocal) {
      await authenticator.authorize(request, reply, 'admin');
      requireAdministrator(request);
    }
    const checks = await readiness();
    const status = statusOf(checks);
    if (status === 'unready') {
      const failed = checks.filter((check) => check.status === 'failing');
      const showProblems = isLocal || verbose;
      const message = failed
        .map(({ name, problem }) => (showProblems ? `${name}: ${problem}` : name))
        .join(showProblems ? '; ' : ', ');
      const details = verbose ? checks.map(checkDetail) : [];
      throw refuse('DEPENDENCY_UNAVAILABLE', message, { retryAfterSeconds: 1, details });
    }
    reply.type(JSON_TYPE);
    if (!verbose) return ok({ status }).text;
    return ok({
      status,
      checks: checks.map(({ name, status, problem, latencyMs }) => ({
        name,
        status,
        ...(problem !== undefined && { problem }),
        latency_ms: roundLatency(latencyMs),
      })),
      in_force: [...backends, ...(await factsOfOthers())].map(({ role, description }) => ({
        role,
        in_force: description,
      })),
    }).text;
  };
}

/** Health checks and metrics, for orchestrators and Prometheus. */
export const probeRoutes = [
  route.raw({
    method: 'GET',
    path: '/livez',
    atRoot: true,
    access: 'open',
    operationId: 'isAlive',
    tag: 'Operations',
    summary: 'Check whether the process runs',
    description: 'A liveness probe. It checks no other part of the service.',
    responses: {
      200: { description: 'The process runs.', data: Type.Object({ status: Type.Literal('alive') }) },
    },
    impliedErrors: 'none',
    errors: ['HOST_NOT_ALLOWED', 'CSRF_REJECTED'],
    createHandler: () => async (_, reply) => {
      reply.type(JSON_TYPE);
      return ok({ status: 'alive' }).text;
    },
  }),

  readinessRoute('/readyz', 'isReady', 'Check whether the service is ready'),
  readinessRoute('/healthz', 'isHealthy', 'Check whether the service is ready (alias of /readyz)'),

  route.raw({
    method: 'GET',
    path: '/metrics',
    atRoot: true,
    access: 'admin',
    // In local mode the metrics do not depend on the auth service, which may be the part that fails.
    localAccess: 'open',
    operationId: 'readMetrics',
    tag: 'Operations',
    summary: 'Read the metrics of the process',
    description: 'Requires an administrator unless the service runs in local mode.',
    responses: {
      200: {
        description: 'The metrics in the text format of Prometheus.',
        content: { 'text/plain': { schema: { type: 'string' }, example: 'process_cpu_seconds_total 1.5\n' } },
      },
    },
    impliedErrors: 'none',
    errors: [
      'HOST_NOT_ALLOWED',
      'CSRF_REJECTED',
      'UNAUTHENTICATED',
      'TOKEN_EXPIRED',
      'SCOPE_INSUFFICIENT',
      'RATE_LIMITED',
      'FORBIDDEN',
    ],
    createHandler:
      ({ metrics, authenticator }) =>
      async (request, reply) => {
        if (authenticator.mode !== 'local') requireAdministrator(request);
        reply.type(metrics.contentType);
        return metrics.text();
      },
  }),
];

function roundLatency(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Lists every check in the error details, including those that pass. */
function checkDetail({ name, problem, latencyMs }: Readiness): FieldProblem {
  return { pointer: `/checks/${name}`, message: `${problem ?? 'ok'} (${roundLatency(latencyMs)} ms)` };
}
