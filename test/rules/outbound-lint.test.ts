import { beforeAll, describe, expect, it } from 'vitest';
import { lint } from '../support/lint.ts';

const FORBIDDEN = [
  `import { request } from 'node:http';`,
  `import { createServer, get as load } from 'node:https';`,
  `import { isIP, connect } from 'node:net';`,
  `import {\n  createSecureContext,\n  connect as connectTls,\n} from 'node:tls';`,
  `import { createConnection } from 'net';`,
  `import * as http from 'node:http';`,
  `import https from 'node:https';`,
  `import { connect } from 'node:http2';`,
  `const module = await import('node:https');`,
  `const response = await fetch('https://example.com');`,
  `const response = globalThis.fetch(url, { method: 'POST' });`,
  `const socket = new WebSocket(url);`,
  `const source = new EventSource(url);`,
  `import WebSocket from 'ws';`,
  `import { WebSocket as Socket } from 'ws';`,
  `import { fetch, Agent } from 'undici';`,
  `const { WebSocket } = await import('ws');`,
];

const ALLOWED = [
  `import type { Socket } from 'node:net';`,
  `import { createServer, type Socket } from 'node:net';`,
  `import { type IncomingMessage, STATUS_CODES } from 'node:http';`,
  `import { request } from './request.ts';`,
  `import type { Dispatcher } from 'undici';`,
  `const send: typeof fetch = client.fetchWith();`,
  `const response = await this.fetch(url);`,
];

let findings: Map<string, number>;

beforeAll(async () => {
  const request = `const response = await fetch('https://example.com');`;
  const folders = ['lib', 'edge', 'lib/outbound', 'scripts', 'test', 'console/api'];
  const planted = [
    ...FORBIDDEN.map((text, index) => [`services/alpha/forbidden-${index}.ts`, text]),
    ...ALLOWED.map((text, index) => [`services/alpha/allowed-${index}.ts`, text]),
    ...folders.map((folder) => [`${folder}/request.ts`, request]),
  ];
  findings = await lint(Object.fromEntries(planted), 'lib/outbound');
});

describe('lint rule for outbound requests', () => {
  it.each(FORBIDDEN.map((text, index) => [text, index] as const))('refuses %s', (_, index) => {
    expect(findings.get(`services/alpha/forbidden-${index}.ts`)).toBe(1);
  });

  it.each(ALLOWED.map((text, index) => [text, index] as const))('accepts %s', (_, index) => {
    expect(findings.get(`services/alpha/allowed-${index}.ts`)).toBeUndefined();
  });

  it('applies to lib/ and edge/, and not to lib/outbound, scripts, tests and the console', () => {
    const others = [...findings.keys()].filter((path) => !path.startsWith('services/'));
    expect(others.sort()).toEqual(['edge/request.ts', 'lib/request.ts']);
  });
});
