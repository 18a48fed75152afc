import { describe, expect, it } from 'vitest';
import type { SettingProblem } from '../../../lib/env.ts';
import { readProcessConfig } from '../../../services/bootstrap/process-config.ts';
import type { Target } from '../../../services/bootstrap/target.ts';

const TEAM = {
  SERVICE_AUTH_MODE: 'oidc',
  SERVICE_OIDC_ISSUER: 'https://login.example.com',
  SERVICE_OIDC_CLIENT_ID: 'agents',
  SERVICE_OIDC_ADMINISTRATOR_GROUPS: 'operators',
};

function wrongWith(env: Record<string, string>, target: Target = 'all'): string[] {
  const problems: SettingProblem[] = [];
  readProcessConfig(target, env, problems);
  return problems.map(({ variable }) => variable);
}

describe('OIDC settings', () => {
  it('are optional in local mode', () => {
    expect(wrongWith({})).toEqual([]);
  });

  it('are complete with a provider, a client and an administrator', () => {
    expect(wrongWith(TEAM)).toEqual([]);
    const { SERVICE_OIDC_ADMINISTRATOR_GROUPS: _, ...rest } = TEAM;
    expect(wrongWith({ ...rest, SERVICE_OIDC_ADMINISTRATORS: 'ada@example.com' })).toEqual([]);
  });

  it('are reported together when missing', () => {
    expect(wrongWith({ SERVICE_AUTH_MODE: 'oidc' })).toEqual([
      'SERVICE_OIDC_ISSUER',
      'SERVICE_OIDC_CLIENT_ID',
      'SERVICE_OIDC_ADMINISTRATOR_GROUPS',
    ]);
  });

  it('require https for a provider that is not on this machine', () => {
    for (const issuer of ['http://login.example.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1']) {
      expect(wrongWith({ ...TEAM, SERVICE_OIDC_ISSUER: issuer })).toEqual(['SERVICE_OIDC_ISSUER']);
    }
    for (const issuer of ['http://127.0.0.1:4000', 'http://localhost:4000', 'http://[::1]:4000']) {
      expect(wrongWith({ ...TEAM, SERVICE_OIDC_ISSUER: issuer })).toEqual([]);
    }
  });

  it('require the openid scope, and an audience for introspection', () => {
    expect(wrongWith({ ...TEAM, SERVICE_OIDC_SCOPES: 'profile email' })).toEqual(['SERVICE_OIDC_SCOPES']);
    expect(wrongWith({ ...TEAM, SERVICE_OIDC_INTROSPECTION: 'true' })).toEqual(['SERVICE_OIDC_AUDIENCE']);
  });

  it('refuse a provider in local mode', () => {
    const { SERVICE_AUTH_MODE: _, ...rest } = TEAM;
    expect(wrongWith(rest)).toEqual(['SERVICE_OIDC_ISSUER']);
  });

  it('require a public URL and a sealing key when auth runs in a separate process', () => {
    const base = {
      SERVICE_SECRET: 's'.repeat(32),
      SERVICE_REDIS_URL: 'redis://r',
      SERVICE_DATABASE_URL: 'postgres://p',
    };
    expect(wrongWith(base, 'auth')).toEqual([]);
    expect(wrongWith({ ...base, ...TEAM }, 'auth')).toEqual(['SERVICE_SEALING_KEY', 'SERVICE_PUBLIC_URL']);
  });

  it('allow a public listen address only in team mode with a public URL', () => {
    expect(wrongWith({ SERVICE_HOST: '0.0.0.0' })).toEqual(['SERVICE_HOST']);
    expect(wrongWith({ ...TEAM, SERVICE_HOST: '0.0.0.0' })).toEqual(['SERVICE_PUBLIC_URL']);
    const open = { ...TEAM, SERVICE_HOST: '0.0.0.0', SERVICE_PUBLIC_URL: 'https://agents.example.com' };
    expect(wrongWith(open)).toEqual([]);
  });
});
