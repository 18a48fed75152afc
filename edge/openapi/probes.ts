import { Type } from 'typebox';
import { type Components, collect } from './components.ts';
import { ANY_CALLER, errorResponses } from './errors.ts';
import { exampleOf } from './example.ts';
import { securityOf } from './security.ts';

const Alive = Type.Object({ status: Type.Literal('alive') });
const Ready = Type.Object({
  status: Type.Literal('ready'),
  checks: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ examples: ['database'] }),
        status: Type.Literal('ok'),
        latency_ms: Type.Number({ minimum: 0, examples: [0.42] }),
      }),
    ),
  ),
  in_force: Type.Optional(
    Type.Array(
      Type.Object(
        { role: Type.String(), in_force: Type.String() },
        { description: 'Which part fills a role.', examples: [{ role: 'bus', in_force: 'in this process' }] },
      ),
    ),
  ),
});

const VERBOSE = {
  name: 'verbose',
  in: 'query',
  required: false,
  description:
    'Lists each check with its latency, and which part fills which role. Where people log in, for administrators.',
  allowEmptyValue: true,
  schema: { type: 'string' },
};

const METRICS = {
  description: 'In the text format of Prometheus.',
  content: { 'text/plain': { schema: { type: 'string' }, example: 'process_cpu_seconds_total 1.5\n' } },
};

/** What machines ask the process. These paths stand at the top, without the prefix of the API. */
export function probePaths(origin: string, components: Components): Record<string, object> {
  const servers = [{ url: origin }];
  const operation = (operationId: string, summary: string, answer: object, more: object = {}) => ({
    servers,
    get: {
      operationId,
      tags: ['Operations'],
      summary,
      security: [],
      ...more,
      responses: {
        200: answer,
        ...errorResponses(['HOST_NOT_ALLOWED', 'CSRF_REJECTED', ...broken(more), ...refused(more)]),
      },
    },
  });
  const broken = (more: object) =>
    'parameters' in more ? (['INVALID_REQUEST', 'INVALID_TEXT', 'DEPENDENCY_UNAVAILABLE'] as const) : [];
  const refused = (more: object) => ('security' in more ? ([...ANY_CALLER, 'FORBIDDEN'] as const) : []);
  const json = (description: string, data: typeof Alive | typeof Ready) => {
    const envelope = Type.Object({ code: Type.Literal('OK'), message: Type.Literal('success'), data });
    return {
      description,
      content: {
        'application/json': { schema: collect(envelope, components), example: exampleOf(envelope) },
      },
    };
  };
  const ready = json('Every part can do its work.', Ready);
  // Yes or no is for anybody.
  const verbose = { parameters: [VERBOSE], security: [{}, ...securityOf('admin')] };
  return {
    '/livez': operation('isAlive', 'Ask whether the process runs', json('It runs.', Alive)),
    '/readyz': operation('isReady', 'Ask whether the service can do its work', ready, {
      ...verbose,
    }),
    '/healthz': operation('isHealthy', 'The same as /readyz', ready, verbose),
    '/metrics': operation('readMetrics', 'Read the metrics of the process', METRICS, {
      description: 'Where people log in, for administrators.',
      security: securityOf('admin'),
    }),
  };
}
