import { checkConfig, settings as edge } from '../../edge/config.ts';
import { type EffectiveSetting, effectiveSettings } from '../../lib/env/effective.ts';
import { readSettings, unknownVariables } from '../../lib/env/read-settings.ts';
import type { EnvironmentVariables, SettingProblem, Settings } from '../../lib/env.ts';
import { settings as agents } from '../agents/config.ts';
import { settings as auth, checkLocalSettings, checkTeamSettings } from '../auth/config.ts';
import { settings as channels } from '../channels/config.ts';
import { settings as deployments } from '../deployments/config.ts';
import { settings as files } from '../files/config.ts';
import { settings as runner } from '../runner/config.ts';
import { incompleteProviders } from '../runner/models/optional-provider-settings.ts';
import { providerNames } from '../runner/models/provider-settings.ts';
import { settings as sessions } from '../sessions/config.ts';
import { settings as vaults } from '../vaults/config.ts';
import { settings as common } from './config.ts';
import { DATABASE_MODULES, modulesOf, SERVICES_CALLED_BY, type Target } from './target.ts';

const DECLARATIONS = { common, auth, agents, sessions, files, deployments, vaults, runner, channels, edge };

/** The target of a process and its settings. */
export type ProcessConfig = { target: Target; effective: readonly EffectiveSetting[] } & {
  [Name in keyof typeof DECLARATIONS]: Settings<(typeof DECLARATIONS)[Name]>;
};

/** Reads and validates all settings, alone and in combination. Adds each problem to `problems`. */
export function readProcessConfig(
  target: Target,
  env: EnvironmentVariables,
  problems: SettingProblem[],
): ProcessConfig {
  const config: ProcessConfig = {
    target,
    effective: effectiveSettings(Object.values(DECLARATIONS), env),
    common: readSettings(common, env, problems),
    auth: readSettings(auth, env, problems),
    agents: readSettings(agents, env, problems),
    sessions: readSettings(sessions, env, problems),
    files: readSettings(files, env, problems),
    deployments: readSettings(deployments, env, problems),
    vaults: readSettings(vaults, env, problems),
    runner: readSettings(runner, env, problems),
    channels: readSettings(channels, env, problems),
    edge: withPublicUrl(readSettings(edge, env, problems)),
  };
  problems.push(...unknownVariables(Object.values(DECLARATIONS), env));
  if (modulesOf(target).includes('edge')) problems.push(...checkConfig(edgeConfig(config)));
  if (modulesOf(target).includes('auth')) problems.push(...checkAuth(config));
  problems.push(...keysOfUnknownEndpoints(config), ...unknownTracedProviders(config));
  problems.push(...incompleteProviders(config.runner));
  problems.push(...incompleteObjectStore(config), ...incompleteTls(config));
  // A setting with an invalid value is already reported and must not be reported as missing, too.
  const reported = new Set(problems.map(({ variable }) => variable.replace(/_FILE$/, '')));
  if (target !== 'all') problems.push(...missing(config).filter(({ variable }) => !reported.has(variable)));
  return config;
}

/** A port that is published on loopback is part of the public URL that is used without SERVICE_PUBLIC_URL. */
function withPublicUrl<Config extends { publicUrl: string | undefined; publishedPort: number | undefined }>(
  config: Config,
): Config {
  if (config.publicUrl !== undefined || config.publishedPort === undefined) return config;
  return { ...config, publicUrl: `http://127.0.0.1:${config.publishedPort}` };
}

/** Returns the configuration of the edge. */
export function edgeConfig({ edge, common: { authMode } }: ProcessConfig) {
  return { ...edge, authMode };
}

function checkAuth({ auth, common: { authMode } }: ProcessConfig): SettingProblem[] {
  return authMode === 'oidc' ? checkTeamSettings(auth) : checkLocalSettings(auth);
}

/** Reports keys for endpoints that are not configured. Most are misspelt. */
function keysOfUnknownEndpoints({ common, runner }: ProcessConfig): SettingProblem[] {
  const { modelEndpoints = {} } = common;
  const unknown = Object.keys(runner.modelEndpointKeys ?? {}).filter(
    (name) => !Object.hasOwn(modelEndpoints, name),
  );
  return unknown.map((name) => ({
    variable: 'SERVICE_MODEL_ENDPOINT_KEYS',
    problem: `has a key for ${name}, which SERVICE_MODEL_ENDPOINTS does not name`,
    expected: 'keys of configured endpoints',
    fix: 'add the endpoint, or correct the name',
  }));
}

/** Reports names of SERVICE_MODEL_TRACE_CONTEXT that select no model provider. Most are misspelt. */
function unknownTracedProviders({ common: { modelEndpoints }, runner }: ProcessConfig): SettingProblem[] {
  const selected = providerNames({ ...runner, modelEndpoints });
  const unknown = (runner.modelTraceContext ?? []).filter((name) => !selected.has(name));
  return unknown.map((name) => ({
    variable: 'SERVICE_MODEL_TRACE_CONTEXT',
    problem: `names ${name}, which is neither a model provider nor the host of one`,
    expected:
      'anthropic, openai, bedrock, vertex, azure, gemini, names in SERVICE_MODEL_ENDPOINTS, or host names of their URLs',
    fix: 'correct the name, or add the endpoint',
  }));
}

/** Reports missing access keys of the object store. */
function incompleteObjectStore({
  files: { s3Endpoint, s3AccessKey, s3SecretKey },
}: ProcessConfig): SettingProblem[] {
  if (s3Endpoint === undefined) return [];
  const missing = [
    ['SERVICE_S3_ACCESS_KEY', s3AccessKey],
    ['SERVICE_S3_SECRET_KEY', s3SecretKey],
  ].flatMap(([variable = '', value]) => (value === undefined ? [variable] : []));
  return missing.map((variable) => ({
    variable,
    problem: 'is not set, and SERVICE_S3_ENDPOINT is',
    expected: 'the keys of a user of the object store',
    fix: 'set both keys, or leave the endpoint out',
  }));
}

/** Reports the missing TLS settings when only some are set. */
function incompleteTls({ common: { grpcTlsCert, grpcTlsKey, grpcTlsCa } }: ProcessConfig): SettingProblem[] {
  const settings: [string, string | undefined][] = [
    ['SERVICE_GRPC_TLS_CERT', grpcTlsCert],
    ['SERVICE_GRPC_TLS_KEY', grpcTlsKey],
    ['SERVICE_GRPC_TLS_CA', grpcTlsCa],
  ];
  const [present] = settings.filter(([, path]) => path !== undefined);
  if (!present) return [];
  return settings
    .filter(([, path]) => path === undefined)
    .map(([variable]) => ({
      variable,
      problem: `is not set, and ${present[0]} is`,
      expected: 'the path of a PEM file',
      fix: 'set all three TLS settings, or none',
    }));
}

/** Reports required settings of a module in a separate process, which cannot use embedded servers or generated secrets. */
function missing({
  target,
  common: { databaseUrl, redisUrl, serviceSecret, sealingKey, ...common },
  files,
  vaults,
  edge,
}: ProcessConfig): SettingProblem[] {
  const modules = modulesOf(target);
  const problems: SettingProblem[] = [];
  const need = (variable: string, value: unknown, expected: string, fix: string) => {
    if (value !== undefined) return;
    problems.push({ variable, problem: `is not set, and target ${target} needs it`, expected, fix });
  };
  const generateSecret = 'make one with: openssl rand -base64 32';
  need(
    'SERVICE_SECRET',
    serviceSecret,
    'a secret of at least 32 characters, the same one in every process',
    generateSecret,
  );
  need(
    'SERVICE_REDIS_URL',
    redisUrl,
    'redis://host:port, the same one in every process',
    'start a Redis server and set its URL; it carries hints between processes',
  );
  if (modules.some((name) => DATABASE_MODULES.includes(name))) {
    need(
      'SERVICE_DATABASE_URL',
      databaseUrl,
      'postgres://user:password@host:port/database',
      'start a PostgreSQL server and set its URL; only target all embeds one',
    );
  }
  if (modules.includes('files')) {
    need(
      'SERVICE_S3_ENDPOINT',
      files.s3Endpoint,
      'http://host:port of a server with an S3 API',
      'start a server such as MinIO and set its address and keys; only target all stores files itself',
    );
  }
  const sealsForUrls =
    modules.includes('deployments') || (modules.includes('auth') && common.authMode === 'oidc');
  // A KMS can wrap the keys of vaults instead.
  if (sealsForUrls || (modules.includes('vaults') && vaults.kmsSocket === undefined)) {
    need(
      'SERVICE_SEALING_KEY',
      sealingKey,
      'a secret of at least 32 characters; keep it, because sealed secrets cannot be opened without it',
      generateSecret,
    );
  }
  if (sealsForUrls || modules.includes('vaults')) {
    need(
      'SERVICE_PUBLIC_URL',
      edge.publicUrl,
      'the origin of the edge as webhook senders and browsers see it',
      'set the same value as for the edge',
    );
  }
  for (const service of new Set(modules.flatMap((name) => SERVICES_CALLED_BY[name]))) {
    need(
      `SERVICE_${service.toUpperCase()}_ADDRESS`,
      common[`${service}Address`],
      'host:port',
      `start it with: npm start -- --target=${service} and set this to its SERVICE_GRPC_LISTEN`,
    );
  }
  return problems;
}
