import { setting } from '../../lib/env.ts';
import { PROTOCOLS, SAMPLERS } from '../../lib/telemetry/options.ts';

const POSTGRES = ['postgres:', 'postgresql:'];
const REDIS = ['redis:', 'rediss:'];

/** Providers of models that every release knows; "turn" is what the models themselves are told of a turn. */
const TAKEN = ['rehearsal', 'anthropic', 'openai', 'turn'];

const addressOf = (variable: string, service: string) =>
  setting.optionalAddress(
    variable,
    `Where the ${service} service listens. Needed when it runs in a process of its own.`,
  );

/** What belongs to no module in particular. */
export const settings = {
  dataDir: setting.text('SERVICE_DATA_DIR', {
    fallback: '.data',
    about: 'Where the embedded database and generated secrets are kept. Used in target all only.',
  }),
  databaseUrl: setting.optionalSecretUrl(
    'SERVICE_DATABASE_URL',
    POSTGRES,
    'A PostgreSQL server, 16 or newer, and a login that may create schemas and roles; with ?sslmode=verify-full, by TLS. Without it, target all brings its own.',
  ),
  redisUrl: setting.optionalSecretUrl(
    'SERVICE_REDIS_URL',
    REDIS,
    'A Redis server that carries hints between processes. Without it, target all passes them inside the process.',
  ),
  serviceSecret: setting.optionalSecret(
    'SERVICE_SECRET',
    32,
    'With it services prove to each other who they are. Generated at the first start in target all.',
  ),
  sealingKey: setting.optionalSecrets(
    'SERVICE_SEALING_KEY',
    32,
    'Seals secrets before they are stored; several keys separated by commas, of which the first seals and all open. ' +
      'Generated at the first start in target all.',
  ),
  authMode: setting.choice('SERVICE_AUTH_MODE', ['local', 'oidc'] as const, {
    fallback: 'local',
    about:
      'Who gets in: local, everybody on this machine, as its administrator; oidc, who has logged in at the identity ' +
      'provider of SERVICE_OIDC_ISSUER. The same in every process.',
  }),
  logLevel: setting.choice('SERVICE_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'] as const, {
    fallback: 'info',
    about: 'What is worth a log line.',
  }),
  grpcListen: setting.address('SERVICE_GRPC_LISTEN', {
    fallback: '127.0.0.1:50051',
    about: 'Where a service in a process of its own listens for the others, as host:port.',
  }),
  metricsListen: setting.optionalAddress(
    'SERVICE_METRICS_LISTEN',
    'Where any target serves /metrics, /healthz and /readyz over HTTP, to whoever reaches it. Without it, only the edge does.',
  ),
  otlpEndpoint: setting.optionalSecretUrl(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    ['http:', 'https:'],
    'An OpenTelemetry collector; traces are sent to /v1/traces there. Without it, none are made.',
  ),
  otlpHeaders: setting.optionalSecretPairs(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'What the collector wants to see in each request.',
  ),
  otlpProtocol: setting.choice('OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS, {
    fallback: 'http/protobuf',
    about: 'How traces are written.',
  }),
  tracesSampler: setting.choice('OTEL_TRACES_SAMPLER', SAMPLERS, {
    fallback: 'parentbased_always_on',
    about:
      'Which traces are recorded. With parentbased_… a client that sends a traceparent decides for its own.',
  }),
  tracesSamplerRatio: setting.fraction('OTEL_TRACES_SAMPLER_ARG', {
    fallback: 1,
    about: 'For the samplers with traceidratio: which part of the traces is recorded.',
  }),
  otelServiceName: setting.optionalText(
    'OTEL_SERVICE_NAME',
    'Stands in traces for the name of the module: edge, sessions and so on.',
  ),
  otelResourceAttributes: setting.optionalPairs(
    'OTEL_RESOURCE_ATTRIBUTES',
    'Stands in traces for what this process says of itself, and beside it.',
  ),
  modelEndpoints: setting.optionalEndpoints(
    'SERVICE_MODEL_ENDPOINTS',
    TAKEN,
    'Servers that speak the chat completions of OpenAI, for example local=http://127.0.0.1:11434/v1: ' +
      'agents then have models named local/<model id>. The same in every process.',
  ),
  agentsAddress: addressOf('SERVICE_AGENTS_ADDRESS', 'agents'),
  authAddress: addressOf('SERVICE_AUTH_ADDRESS', 'auth'),
  deploymentsAddress: addressOf('SERVICE_DEPLOYMENTS_ADDRESS', 'deployments'),
  filesAddress: addressOf('SERVICE_FILES_ADDRESS', 'files'),
  sessionsAddress: addressOf('SERVICE_SESSIONS_ADDRESS', 'sessions'),
};
