import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SettingProblem } from '../../lib/env.ts';
import { settings as authSettings } from '../../services/auth/config.ts';
import { readProcessConfig } from '../../services/bootstrap/process-config.ts';
import {
  DATABASE_MODULES,
  MODULES,
  readTarget,
  SERVICES_CALLED_BY,
} from '../../services/bootstrap/target.ts';
import { systemCallNumbers } from '../../services/runner/kernel/seccomp/system-calls.ts';
import { type Project, ROOT, readProject, SECRETS, targetsOf } from './project.ts';

const project = readProject(SECRETS);
const containers = Object.entries(project.services);
const configure = (project: Project) =>
  targetsOf(project).map(({ name, args, env }) => {
    const problems: SettingProblem[] = [];
    const target = readTarget(args, problems) ?? 'all';
    const config = readProcessConfig(target, env, problems);
    return { name, target, env, config, problems };
  });
const targets = configure(project);

/** The settings with which a user selects team mode. */
const TEAM = {
  SERVICE_AUTH_MODE: 'oidc',
  SERVICE_PUBLIC_URL: 'https://agents.example.com',
  SERVICE_OIDC_ISSUER: 'https://login.example.com',
  SERVICE_OIDC_CLIENT_ID: 'agents',
  SERVICE_OIDC_CLIENT_SECRET: 'secret-of-the-client',
  SERVICE_OIDC_ADMINISTRATORS: 'you@example.com',
  SERVICE_TRUSTED_PROXIES: '172.16.0.0/12',
};

const holdersOf = (variable: string) =>
  targets.filter(({ env }) => variable in env).map(({ target }) => target);

describe('docker-compose.yml', () => {
  it('runs every module in a separate container', () => {
    expect(targets.map(({ target }) => target).toSorted()).toEqual(MODULES.toSorted());
  });

  it.each(targets)('gives target $target valid settings', ({ problems }) => {
    expect(problems).toEqual([]);
  });

  it.each(
    targets.flatMap(({ target, config }) =>
      SERVICES_CALLED_BY[target as keyof typeof SERVICES_CALLED_BY].map((calledService) => ({
        target,
        config,
        calledService,
      })),
    ),
  )('gives target $target the address of $calledService', ({ config, calledService }) => {
    const [host, port] = config.common[`${calledService}Address`]?.split(':') ?? [];
    const found = targets.find(({ name }) => name === host);
    expect(found?.target).toBe(calledService);
    expect(found?.config.common.grpcListen).toBe(`0.0.0.0:${port}`);
  });

  it('serves metrics of every target only inside the container network', () => {
    for (const { config } of targets) expect(config.common.metricsListen).toBe('0.0.0.0:9464');
    const published = containers.flatMap(([, { ports = [] }]) => ports);
    expect(published.filter((port) => port.endsWith(':9464'))).toEqual([]);
  });

  it('uses its own database and Redis', () => {
    const named = targets.flatMap(({ config: { common } }) => [common.databaseUrl, common.redisUrl]);
    const hosts = new Set(named.flatMap((url) => (url ? [new URL(url).hostname] : [])));
    expect([...hosts].toSorted()).toEqual(['postgres', 'redis']);
    expect(hosts.isSubsetOf(new Set(Object.keys(project.services)))).toBe(true);
  });

  it('publishes ports only on loopback', () => {
    const published = containers.flatMap(([, { ports = [] }]) => ports);
    expect(published.length).toBeGreaterThan(0);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it('publishes the edge at its public URL', () => {
    const published = readProject({ ...SECRETS, SERVICE_PORT: '9000' });
    expect(published.services.edge?.ports).toEqual(['127.0.0.1:9000:8080']);
    for (const { target, config } of configure(published))
      if (['auth', 'deployments', 'edge'].includes(target))
        expect(config.edge.publicUrl).toBe('http://127.0.0.1:9000');
  });

  it('gives every target valid settings in team mode', () => {
    const team = configure(readProject({ ...SECRETS, ...TEAM }));
    expect(team.flatMap(({ problems }) => problems)).toEqual([]);
    for (const { config } of team) expect(config.common.authMode).toBe('oidc');
    const configOf = (name: string) => team.find(({ target }) => target === name)?.config;
    expect(configOf('auth')?.auth).toMatchObject({
      issuer: TEAM.SERVICE_OIDC_ISSUER,
      clientId: TEAM.SERVICE_OIDC_CLIENT_ID,
      clientSecret: TEAM.SERVICE_OIDC_CLIENT_SECRET,
      administrators: [TEAM.SERVICE_OIDC_ADMINISTRATORS],
    });
    expect(configOf('edge')?.edge).toMatchObject({
      publicUrl: TEAM.SERVICE_PUBLIC_URL,
      trustedProxies: [TEAM.SERVICE_TRUSTED_PROXIES],
    });
  });

  it('passes every setting of the auth service to it', () => {
    const passed = Object.keys(project.services.auth?.environment ?? {});
    const declared = Object.values(authSettings).map(({ variable }) => variable);
    expect(declared.filter((variable) => !passed.includes(variable))).toEqual(['SERVICE_AUTH_POOL']);
  });

  it.each(Object.keys(SECRETS))('contains no %s and explains how to generate one', (name) => {
    expect(() => readProject({ ...SECRETS, [name]: '' })).toThrow(
      new RegExp(`^${name} is missing: make one with: openssl rand -(base64|hex) 32$`),
    );
  });

  it('takes its secrets from the user', () => {
    for (const { config } of targets) expect(config.common.serviceSecret).toBe(SECRETS.SERVICE_SECRET);
    const { environment } = project.services.postgres ?? {};
    const passwords = targets.flatMap(({ config: { common } }) =>
      common.databaseUrl ? [new URL(common.databaseUrl).password] : [],
    );
    expect(new Set([...passwords, environment?.POSTGRES_PASSWORD])).toEqual(
      new Set([SECRETS.POSTGRES_PASSWORD]),
    );
  });

  it('passes each secret only to the containers that need it', () => {
    expect(holdersOf('SERVICE_SEALING_KEY')).toEqual(['auth', 'deployments', 'vaults']);
    expect(holdersOf('SERVICE_DATABASE_URL').toSorted()).toEqual(DATABASE_MODULES.toSorted());
  });

  it('passes model keys only to runners', () => {
    const keys = [
      ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'MODEL_ENDPOINT_KEYS', 'BEDROCK_API_KEY', 'AZURE_API_KEY'],
      ...['BEDROCK_SECRET_ACCESS_KEY', 'BEDROCK_SESSION_TOKEN', 'VERTEX_CREDENTIALS', 'VERTEX_API_KEY'],
      'GEMINI_API_KEY',
    ].map((name) => `SERVICE_${name}`);
    const { services } = readProject({
      ...SECRETS,
      ...Object.fromEntries(keys.map((name) => [name, 'a=b'])),
    });
    for (const key of keys) {
      const holders = Object.entries(services).filter(([, { environment }]) => environment?.[key]);
      expect(holders.map(([name]) => name)).toEqual(['runner']);
    }
  });

  it('builds the image of the runner and the image of the other targets', () => {
    const built = containers.flatMap(([name, { image, build }]) =>
      build ? [[name, image, build.target]] : [],
    );
    expect(built).toEqual([
      ['runner', 'agent-hosting-service-runner:local', 'runner'],
      ['edge', 'agent-hosting-service:local', 'service'],
    ]);
    const users = containers.filter(([, { image }]) => image === 'agent-hosting-service-runner:local');
    expect(users.map(([name]) => name)).toEqual(['runner']);
  });

  it('grants options for namespaces only to the runner', () => {
    for (const { name } of targets) {
      const { cap_drop, security_opt = [] } = project.services[name] ?? {};
      expect(cap_drop, name).toEqual(['ALL']);
      expect(security_opt, name).toContain('no-new-privileges:true');
    }
    const granted = containers.filter(([, { security_opt = [] }]) => security_opt.length > 1);
    expect(granted.map(([name]) => name)).toEqual(['runner']);
    const visible = containers.filter(([, { volumes = [] }]) =>
      volumes.some((one) => one.startsWith('proc:')),
    );
    expect(visible.map(([name]) => name)).toEqual(['runner']);
  });

  it('refuses the runner every system call that commands may not use, except those that create namespaces', () => {
    const needed = ['clone', 'mount', 'pivot_root', 'sethostname', 'setns', 'umount2', 'unshare'];
    const checkedByArgument = ['clone3', 'ioctl', 'personality', 'socket', 'socketpair'];
    // Commands may use it where the kernel limits their copies.
    const checkedBySpace = ['fallocate'];
    const allowed = new Set([...needed, ...checkedByArgument, ...checkedBySpace]);
    const { defaultAction, syscalls } = JSON.parse(
      readFileSync(`${ROOT}/deploy/runner-seccomp.json`, 'utf8'),
    );
    expect(defaultAction).toBe('SCMP_ACT_ALLOW');
    expect(syscalls).toEqual([
      {
        names: [...systemCallNumbers('x64').keys()].filter((name) => !allowed.has(name)),
        action: 'SCMP_ACT_ERRNO',
      },
    ]);
  });

  it('allows several instances of every service except the edge', () => {
    expect(containers.filter(([, { container_name }]) => container_name !== undefined)).toEqual([]);
    const bound = containers.filter(([, { ports, profiles }]) => ports && !profiles);
    expect(bound.map(([name]) => name)).toEqual(['edge']);
  });

  it('substitutes variables in forms that docker-compose 1.29 supports, too', () => {
    const text = readFileSync(`${ROOT}docker-compose.yml`, 'utf8');
    expect(text.match(/\$\{\w+:?\+[^}]*\}/g) ?? []).toEqual([]);
  });

  it('has a health check for every container without a profile', () => {
    const silent = containers.filter(([, { healthcheck, profiles }]) => !healthcheck && !profiles);
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('pins one exact version of every external image', () => {
    const foreign = containers.flatMap(([, { image }]) =>
      image.startsWith('agent-hosting-service') ? [] : [image],
    );
    expect(
      foreign.filter(
        (image) => !/:(\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?|RELEASE\.\d{4}-\d\d-\d\dT[\d-]+Z)$/.test(image),
      ),
    ).toEqual([]);
  });
});
