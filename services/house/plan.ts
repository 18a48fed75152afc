import { checkConfig, settings as edge } from '../../edge/config.ts';
import { type EffectiveSetting, effectiveSettings } from '../../lib/env/effective.ts';
import {
  type Environment,
  readSettings,
  type SettingProblem,
  type Settings,
  unknownVariables,
} from '../../lib/env.ts';
import { settings as agents } from '../agents/config.ts';
import { settings as auth, checkLocal, checkTeam } from '../auth/config.ts';
import { settings as deployments } from '../deployments/config.ts';
import { settings as files } from '../files/config.ts';
import { settings as runner } from '../runner/config.ts';
import { settings as sessions } from '../sessions/config.ts';
import { settings as house } from './config.ts';
import { ASKS, KEEPERS, modulesOf, type Target } from './target.ts';

const DECLARATIONS = { house, auth, agents, sessions, files, deployments, runner, edge };

/** What a process will run, and with which settings. */
export type Plan = { target: Target; effective: readonly EffectiveSetting[] } & {
  [Name in keyof typeof DECLARATIONS]: Settings<(typeof DECLARATIONS)[Name]>;
};

/** Reads all settings and adds everything that is wrong with them, alone or together, to `problems`. */
export function readPlan(target: Target, env: Environment, problems: SettingProblem[]): Plan {
  const plan: Plan = {
    target,
    effective: effectiveSettings(Object.values(DECLARATIONS), env),
    house: readSettings(house, env, problems),
    auth: readSettings(auth, env, problems),
    agents: readSettings(agents, env, problems),
    sessions: readSettings(sessions, env, problems),
    files: readSettings(files, env, problems),
    deployments: readSettings(deployments, env, problems),
    runner: readSettings(runner, env, problems),
    edge: readSettings(edge, env, problems),
  };
  problems.push(...unknownVariables(Object.values(DECLARATIONS), env));
  if (modulesOf(target).includes('edge')) problems.push(...checkConfig(edgeConfig(plan)));
  if (modulesOf(target).includes('auth')) problems.push(...checkAuth(plan));
  problems.push(...endpointKeysOfNobody(plan), ...halfAStore(plan));
  // What was given but cannot be used has been said already; it is not missing as well.
  const given = new Set(problems.map(({ variable }) => variable.replace(/_FILE$/, '')));
  if (target !== 'all') problems.push(...missing(plan).filter(({ variable }) => !given.has(variable)));
  return plan;
}

/** What the edge is opened with. */
export function edgeConfig({ edge, house: { authMode } }: Plan) {
  return { ...edge, authMode };
}

function checkAuth({ auth, house: { authMode } }: Plan): SettingProblem[] {
  return authMode === 'oidc' ? checkTeam(auth) : checkLocal(auth);
}

/** A key for an endpoint that does not exist is most often a slip of the pen. */
function endpointKeysOfNobody({ house, runner }: Plan): SettingProblem[] {
  const { modelEndpoints = {} } = house;
  const unknown = Object.keys(runner.modelEndpointKeys ?? {}).filter(
    (name) => !Object.hasOwn(modelEndpoints, name),
  );
  return unknown.map((name) => ({
    variable: 'SERVICE_MODEL_ENDPOINT_KEYS',
    problem: `has a key for ${name}, which SERVICE_MODEL_ENDPOINTS does not name`,
    expected: 'keys of endpoints that there are',
    fix: 'add the endpoint, or correct the name',
  }));
}

/** A store of objects is told apart from strangers by its keys. */
function halfAStore({ files: { s3Endpoint, s3AccessKey, s3SecretKey } }: Plan): SettingProblem[] {
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

/** In a process of its own a module stands on nothing embedded and nothing generated. */
function missing({
  target,
  house: { databaseUrl, redisUrl, serviceSecret, sealingKey, ...house },
  files,
  edge,
}: Plan): SettingProblem[] {
  const modules = modulesOf(target);
  const problems: SettingProblem[] = [];
  const need = (variable: string, value: unknown, expected: string, fix: string) => {
    if (value !== undefined) return;
    problems.push({ variable, problem: `is not set, and target ${target} needs it`, expected, fix });
  };
  const makeSecret = 'make one with: openssl rand -base64 32';
  need(
    'SERVICE_SECRET',
    serviceSecret,
    'a secret of at least 32 characters, the same one in every process',
    makeSecret,
  );
  need(
    'SERVICE_REDIS_URL',
    redisUrl,
    'redis://host:port, the same one in every process',
    'start a Redis server and name it; hints between processes go through it',
  );
  if (modules.some((name) => KEEPERS.includes(name))) {
    need(
      'SERVICE_DATABASE_URL',
      databaseUrl,
      'postgres://user:password@host:port/database',
      'start a PostgreSQL server and name it; only target all embeds one',
    );
  }
  if (modules.includes('files')) {
    need(
      'SERVICE_S3_ENDPOINT',
      files.s3Endpoint,
      'http://host:port of a server that speaks S3',
      'start one, MinIO for example, and name it with its keys; only target all keeps files itself',
    );
  }
  if (modules.includes('deployments') || (modules.includes('auth') && house.authMode === 'oidc')) {
    need(
      'SERVICE_SEALING_KEY',
      sealingKey,
      'a secret of at least 32 characters; keep it, as nothing else opens what it has sealed',
      makeSecret,
    );
    need(
      'SERVICE_PUBLIC_URL',
      edge.publicUrl,
      'the origin of the edge, as senders of webhooks and browsers reach it',
      'set it as for the edge',
    );
  }
  for (const service of new Set(modules.flatMap((name) => ASKS[name]))) {
    need(
      `SERVICE_${service.toUpperCase()}_ADDRESS`,
      house[`${service}Address`],
      'host:port',
      `start it with: npm start -- --target=${service} and name what it has as SERVICE_GRPC_LISTEN`,
    );
  }
  return problems;
}
