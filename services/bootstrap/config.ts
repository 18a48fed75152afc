import { choices } from '../../lib/env/choices.ts';
import { type Setting, setting } from '../../lib/env.ts';
import { CALLER_RULES, type CallerRule, parseCallerRules } from '../../lib/grpc/caller-rules.ts';
import { HISTOGRAM_DETAILS } from '../../lib/metrics.ts';
import { EXTERNAL_PROVIDERS } from '../../lib/model-providers.ts';
import { PRIVATE_HOSTS, type PrivateHost, parsePrivateHosts } from '../../lib/outbound/private-hosts.ts';
import { telemetrySettings } from './telemetry-config.ts';

const POSTGRES = ['postgres:', 'postgresql:'];
const REDIS = ['redis:', 'rediss:'];

/** Names that a custom endpoint cannot have: the built-in model providers, and "turn", the key of turn options. */
const RESERVED_ENDPOINTS = ['rehearsal', ...EXTERNAL_PROVIDERS, 'turn'];

const addressOf = (variable: string, service: string) =>
  setting.optionalAddresses(
    variable,
    `Address of the ${service} service as host:port; the addresses of several instances are separated by commas. A host name stands for all of its addresses. Required when that service runs in a separate process.`,
  );

const callerRules: Setting<CallerRule[] | undefined> = {
  ...setting.optionalText(
    'SERVICE_GRPC_CALLERS',
    'Changes of the services that may call each RPC. Rules apply in order to the default callers, which docs/reference/callers.md lists. ' +
      'For example, sessions.GetSession+=billing lets a service named billing call that RPC. The same in every process.',
  ),
  expected: CALLER_RULES,
  parse: parseCallerRules,
  fallback: undefined,
};

const outboundPrivateHosts: Setting<PrivateHost[]> = {
  ...setting.optionalText(
    'SERVICE_OUTBOUND_PRIVATE_HOSTS',
    'Private and loopback hosts that requests to addresses of users and administrators may reach, over http: too. Without a ' +
      'port, an entry allows ports 80 and 443. Other hosts must have public addresses and https:. It does not change which ' +
      'hosts sandboxes reach.',
  ),
  expected: PRIVATE_HOSTS,
  parse: parsePrivateHosts,
  fallback: [],
};

/** Settings that several modules share. */
export const settings = {
  dataDir: setting.text('SERVICE_DATA_DIR', {
    fallback: '.data',
    about: 'Directory for the embedded database and generated secrets. Used only in target all.',
  }),
  databaseUrl: setting.optionalSecretUrl(
    'SERVICE_DATABASE_URL',
    POSTGRES,
    'URL of a PostgreSQL server, version 16 or newer, with a login that may create schemas and roles. Add ?sslmode=verify-full for TLS. Without it, target all starts an embedded server.',
  ),
  redisUrl: setting.optionalSecretUrl(
    'SERVICE_REDIS_URL',
    REDIS,
    'URL of a Redis server that carries hints and rate limits between processes. Without it, target all keeps them in the process.',
  ),
  serviceSecret: setting.optionalSecret(
    'SERVICE_SECRET',
    32,
    'Shared key that signs service-to-service tokens. The same in every process. Generated at the first start in target all.',
  ),
  sealingKey: setting.optionalSecrets(
    'SERVICE_SEALING_KEY',
    32,
    'Keys that encrypt secrets before they are stored, separated by commas. The first key encrypts and every key decrypts. ' +
      'Generated at the first start in target all.',
  ),
  authMode: setting.choice('SERVICE_AUTH_MODE', ['local', 'oidc'] as const, {
    fallback: 'local',
    about:
      'Authentication mode. local: every client on this machine is the administrator, without login. oidc: users log in at ' +
      'the identity provider of SERVICE_OIDC_ISSUER. The same in every process.',
  }),
  logLevel: setting.choice('SERVICE_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'] as const, {
    fallback: 'info',
    about: 'Lowest level of log messages that are written.',
  }),
  grpcListen: setting.address('SERVICE_GRPC_LISTEN', {
    fallback: '127.0.0.1:50051',
    about: 'Address on which a service in a separate process accepts calls of other services, as host:port.',
  }),
  grpcTlsCert: setting.optionalText(
    'SERVICE_GRPC_TLS_CERT',
    'Path of a PEM file with the certificate of this process for calls between services, followed by intermediate ' +
      'certificates. It must name every host under which other processes call this one. With it, both sides of a call ' +
      'authenticate with certificates. A changed file is used within five seconds. Requires SERVICE_GRPC_TLS_KEY and ' +
      'SERVICE_GRPC_TLS_CA. Not used in target all.',
  ),
  grpcTlsKey: setting.optionalText(
    'SERVICE_GRPC_TLS_KEY',
    'Path of a PEM file with the private key of SERVICE_GRPC_TLS_CERT, without a passphrase.',
  ),
  grpcTlsCa: setting.optionalText(
    'SERVICE_GRPC_TLS_CA',
    'Path of a PEM file with the certificates of the CAs whose certificates other services and callers must have.',
  ),
  grpcReflection: setting.flag('SERVICE_GRPC_REFLECTION', {
    fallback: false,
    about:
      'Whether a service in a separate process offers gRPC server reflection, which describes its contracts to tools such as grpcurl. Reflection needs no service token.',
  }),
  callerRules,
  metricsListen: setting.optionalAddress(
    'SERVICE_METRICS_LISTEN',
    'Address on which any target serves /metrics, /healthz and /readyz over HTTP without authentication. Without it, only the edge serves them.',
  ),
  metricsHistograms: choices(
    'SERVICE_METRICS_HISTOGRAMS',
    HISTOGRAM_DETAILS,
    'Metrics that are exported with histogram buckets: durations of each HTTP route, of each method between services and of ' +
      'each SQL statement, and durations and tokens of each model. By default, these metrics have only sum and count, and ' +
      'a scrape has at most 1,500 series. Each value adds up to 3,300 series.',
  ),
  ...telemetrySettings,
  outboundPrivateHosts,
  modelEndpoints: setting.optionalEndpoints(
    'SERVICE_MODEL_ENDPOINTS',
    RESERVED_ENDPOINTS,
    'Servers with an OpenAI-compatible chat completions API, for example local=http://127.0.0.1:11434/v1. ' +
      'Agents then use models named local/<model id>. The same in every process.',
  ),
  modelsFile: setting.optionalText(
    'SERVICE_MODELS_FILE',
    'Path of a YAML or JSON file with limits and capabilities of models. Its entries extend and override the table of ' +
      'this release. Targets agents and runner read it once at the start, and it is the same for all of them. Set it to ' +
      'declare models of SERVICE_MODEL_ENDPOINTS or newer models of a provider.',
  ),
  agentsAddress: addressOf('SERVICE_AGENTS_ADDRESS', 'agents'),
  authAddress: addressOf('SERVICE_AUTH_ADDRESS', 'auth'),
  deploymentsAddress: addressOf('SERVICE_DEPLOYMENTS_ADDRESS', 'deployments'),
  filesAddress: addressOf('SERVICE_FILES_ADDRESS', 'files'),
  sessionsAddress: addressOf('SERVICE_SESSIONS_ADDRESS', 'sessions'),
  vaultsAddress: addressOf('SERVICE_VAULTS_ADDRESS', 'vaults'),
};
