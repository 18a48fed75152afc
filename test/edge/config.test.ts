import { describe, expect, it } from 'vitest';
import { checkConfig, type EdgeConfig } from '../../edge/config.ts';

const safe: EdgeConfig = {
  host: '127.0.0.1',
  port: 8080,
  publicUrl: undefined,
  publishedPort: undefined,
  allowedHosts: [],
  allowedOrigins: [],
  publishedOnLoopback: false,
  trustedProxies: [],
  maxWebhookBytes: 1,
  requestTimeoutSeconds: 60,
  streamStallSeconds: 30,
  consoleDevServer: undefined,
  authMode: 'local',
};
const faults = (changed: Partial<EdgeConfig>) =>
  checkConfig({ ...safe, ...changed }).map((problem) => problem.variable);

describe('checkConfig', () => {
  it.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])('allows local mode on %s', (host) => {
    expect(faults({ host })).toEqual([]);
  });

  it.each([
    '0.0.0.0',
    '::',
    '192.168.1.5',
    '10.0.0.1',
    '',
    'localhost.example.com',
    '127.0.0.1.nip.io',
    '128.0.0.1',
    '::ffff:127.0.0.1',
  ])('refuses local mode on %j unless the port is published on loopback', (host) => {
    expect(faults({ host })).toEqual(['SERVICE_HOST']);
    expect(faults({ host, publishedOnLoopback: true })).toEqual([]);
  });

  it.each(['agents.example.com', 'a', '10.0.0.1', '[::1]', '[fd00::1]'])(
    'accepts the allowed host %s',
    (name) => {
      expect(faults({ allowedHosts: [name] })).toEqual([]);
    },
  );

  it.each(['https://app.example.com', 'http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:3000'])(
    'accepts the allowed origin %s',
    (origin) => {
      expect(faults({ allowedOrigins: [origin] })).toEqual([]);
    },
  );

  it.each([
    '*',
    'null',
    'app.example.com',
    'https://*.example.com',
    'https://App.example.com',
    'https://app.example.com/',
    'https://app.example.com:443',
    'https://app.example.com/chat',
    'https://user@app.example.com',
    'ftp://app.example.com',
    'http://',
  ])('refuses the allowed origin %j', (origin) => {
    expect(faults({ allowedOrigins: [origin] })).toEqual(['SERVICE_ALLOWED_ORIGINS']);
  });

  it.each([
    '*',
    '*.example.com',
    'https://a.example.com',
    'a.example.com:8080',
    'a/b',
    '.a',
    'a.',
    'a b',
    '::1',
    'u@a',
    '',
  ])('refuses the allowed host %j', (name) => {
    expect(faults({ allowedHosts: ['a.example.com', name] })).toEqual(['SERVICE_ALLOWED_HOSTS']);
  });

  it.each([
    'http://localhost:8080',
    'https://agents.example.com',
    'https://agents.example.com/',
    'https://a:8443',
  ])('accepts the public URL %s', (publicUrl) => {
    expect(faults({ publicUrl })).toEqual([]);
  });

  it.each([
    'https://a.example.com/base',
    'https://a.example.com/?q',
    'https://a.example.com?',
    'https://a.example.com/#f',
    'https://u@a.example.com',
    'https://u:p@a.example.com',
    'https://:p@a.example.com',
  ])('refuses the public URL %s', (publicUrl) => {
    expect(faults({ publicUrl })).toEqual(['SERVICE_PUBLIC_URL']);
  });

  it.each(['http://127.0.0.1:5173', 'http://localhost:5173/', 'http://[::1]:5173'])(
    'accepts the console dev server %s',
    (consoleDevServer) => {
      expect(faults({ consoleDevServer })).toEqual([]);
    },
  );

  it.each([
    'http://192.168.1.5:5173',
    'http://localhost.example.com',
    'http://127.0.0.1.nip.io',
    'http://0.0.0.0:5173',
    'http://127.0.0.1:5173/console',
    'http://user@127.0.0.1:5173',
  ])('refuses the console dev server %s', (consoleDevServer) => {
    expect(faults({ consoleDevServer })).toEqual(['SERVICE_CONSOLE_DEV_SERVER']);
  });

  it.each(['10.0.0.7', '10.0.0.0/8', '::1', 'fd00:5::/64', '::ffff:10.0.0.7'])(
    'accepts the trusted proxy %s',
    (proxy) => {
      expect(faults({ trustedProxies: [proxy] })).toEqual([]);
    },
  );

  it.each([
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    'proxy',
    '10.1',
    '10.0.0.1:80',
    'fe80::1%eth0',
    '*',
    '10.0.0.1/',
  ])('refuses the trusted proxy %s', (proxy) => {
    expect(faults({ trustedProxies: ['10.0.0.7', proxy] })).toEqual(['SERVICE_TRUSTED_PROXIES']);
  });

  it.each(['127.0.0.1', 'localhost', '::1'])('allows mode oidc on %s without SERVICE_PUBLIC_URL', (host) => {
    expect(faults({ authMode: 'oidc', host })).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1'])('allows mode oidc on %s only with SERVICE_PUBLIC_URL', (host) => {
    expect(faults({ authMode: 'oidc', host })).toEqual(['SERVICE_PUBLIC_URL']);
    expect(faults({ authMode: 'oidc', host, publishedOnLoopback: true })).toEqual(['SERVICE_PUBLIC_URL']);
    expect(faults({ authMode: 'oidc', host, publicUrl: 'https://agents.example.com' })).toEqual([]);
  });

  it('reports every problem with its remedy', () => {
    const problems = checkConfig({
      ...safe,
      host: '0.0.0.0',
      allowedHosts: ['*', 'x y'],
      publicUrl: 'https://a/b',
    });
    expect(problems).toHaveLength(4);
    for (const { problem, expected, fix } of problems)
      for (const text of [problem, expected, fix]) expect(text).not.toBe('');
  });
});
