import { describe, expect, it } from 'vitest';
import type { SettingProblem } from '../../lib/env.ts';
import { readPlan } from '../../services/house/plan.ts';
import { ASKS, KEEPERS, MODULES, readTarget } from '../../services/house/target.ts';
import { readProject, SECRETS, targetsOf } from './project.ts';

const project = readProject(SECRETS);
const containers = Object.entries(project.services);
const targets = targetsOf(project).map(({ name, args, env }) => {
  const problems: SettingProblem[] = [];
  const target = readTarget(args, problems) ?? 'all';
  const plan = readPlan(target, env, problems);
  return { name, target, env, plan, problems };
});

const holdersOf = (variable: string) =>
  targets.filter(({ env }) => variable in env).map(({ target }) => target);

describe('docker-compose.yml', () => {
  it('runs every module in a container of its own', () => {
    expect(targets.map(({ target }) => target).toSorted()).toEqual(MODULES.toSorted());
  });

  it.each(targets)('gives $target settings with which it starts', ({ problems }) => {
    expect(problems).toEqual([]);
  });

  it.each(
    targets.flatMap(({ target, plan }) =>
      ASKS[target as keyof typeof ASKS].map((asked) => ({ target, plan, asked })),
    ),
  )('lets $target find $asked', ({ plan, asked }) => {
    const [host, port] = plan.house[`${asked}Address`]?.split(':') ?? [];
    const found = targets.find(({ name }) => name === host);
    expect(found?.target).toBe(asked);
    expect(found?.plan.house.grpcListen).toBe(`0.0.0.0:${port}`);
  });

  it('has every target serve its metrics to the other containers, and to nobody else', () => {
    for (const { plan } of targets) expect(plan.house.metricsListen).toBe('0.0.0.0:9464');
    const published = containers.flatMap(([, { ports = [] }]) => ports);
    expect(published.filter((port) => port.endsWith(':9464'))).toEqual([]);
  });

  it('names its own database and Redis', () => {
    const named = targets.flatMap(({ plan: { house } }) => [house.databaseUrl, house.redisUrl]);
    const hosts = new Set(named.flatMap((url) => (url ? [new URL(url).hostname] : [])));
    expect([...hosts].toSorted()).toEqual(['postgres', 'redis']);
    expect(hosts.isSubsetOf(new Set(Object.keys(project.services)))).toBe(true);
  });

  it('publishes nothing beyond loopback', () => {
    const published = containers.flatMap(([, { ports = [] }]) => ports);
    expect(published.length).toBeGreaterThan(0);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it('publishes the edge where its public URL says', () => {
    const { services } = readProject({ ...SECRETS, SERVICE_PORT: '9000' });
    expect(services.edge?.ports).toEqual(['127.0.0.1:9000:8080']);
    for (const name of ['edge', 'deployments'])
      expect(services[name]?.environment?.SERVICE_PUBLIC_URL).toBe('http://127.0.0.1:9000');
  });

  it.each(Object.keys(SECRETS))('holds no %s, and says how to make one', (name) => {
    expect(() => readProject({ ...SECRETS, [name]: '' })).toThrow(
      new RegExp(`^${name} is missing: make one with: openssl rand -(base64|hex) 32$`),
    );
  });

  it('takes its secrets from the user', () => {
    for (const { plan } of targets) expect(plan.house.serviceSecret).toBe(SECRETS.SERVICE_SECRET);
    const { environment } = project.services.postgres ?? {};
    const passwords = targets.flatMap(({ plan: { house } }) =>
      house.databaseUrl ? [new URL(house.databaseUrl).password] : [],
    );
    expect(new Set([...passwords, environment?.POSTGRES_PASSWORD])).toEqual(
      new Set([SECRETS.POSTGRES_PASSWORD]),
    );
  });

  it('hands a secret to nobody who has no use for it', () => {
    expect(holdersOf('SERVICE_SEALING_KEY')).toEqual(['deployments']);
    expect(holdersOf('SERVICE_DATABASE_URL').toSorted()).toEqual(KEEPERS.toSorted());
  });

  it('hands the keys of models to runners alone', () => {
    const keys = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'MODEL_ENDPOINT_KEYS'].map(
      (name) => `SERVICE_${name}`,
    );
    const { services } = readProject({
      ...SECRETS,
      ...Object.fromEntries(keys.map((name) => [name, 'a=b'])),
    });
    for (const key of keys) {
      const holders = Object.entries(services).filter(([, { environment }]) => environment?.[key]);
      expect(holders.map(([name]) => name)).toEqual(['runner']);
    }
  });

  it('lets every service but the edge run several times', () => {
    expect(containers.filter(([, { container_name }]) => container_name !== undefined)).toEqual([]);
    const bound = containers.filter(([, { ports, profiles }]) => ports && !profiles);
    expect(bound.map(([name]) => name)).toEqual(['edge']);
  });

  it('asks everything that it always runs for its health', () => {
    const silent = containers.filter(([, { healthcheck, profiles }]) => !healthcheck && !profiles);
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('names one exact version of every image that it does not build', () => {
    const foreign = containers.flatMap(([, { image }]) =>
      image === 'agent-hosting-service:local' ? [] : [image],
    );
    expect(
      foreign.filter(
        (image) => !/:(\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?|RELEASE\.\d{4}-\d\d-\d\dT[\d-]+Z)$/.test(image),
      ),
    ).toEqual([]);
  });
});
