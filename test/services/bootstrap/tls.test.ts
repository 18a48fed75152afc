import { describe, expect, it } from 'vitest';
import type { SettingProblem } from '../../../lib/env.ts';
import { readProcessConfig } from '../../../services/bootstrap/process-config.ts';
import type { Target } from '../../../services/bootstrap/target.ts';
import { checkTls, plaintextWarning } from '../../../services/bootstrap/tls.ts';

const LOCAL = {
  SERVICE_AGENTS_ADDRESS: '127.0.0.1:1',
  SERVICE_SESSIONS_ADDRESS: 'localhost:2,[::1]:2',
  SERVICE_FILES_ADDRESS: '127.0.0.5:3',
};
const TLS = { SERVICE_GRPC_TLS_CERT: 'cert', SERVICE_GRPC_TLS_KEY: 'key', SERVICE_GRPC_TLS_CA: 'ca' };

function read(env: Record<string, string>, target: Target = 'runner') {
  const problems: SettingProblem[] = [];
  return { config: readProcessConfig(target, env, problems), problems };
}

const warningOf = (env: Record<string, string>, target?: Target) =>
  plaintextWarning(read(env, target).config);

describe('the warning about calls without encryption', () => {
  it.each([
    ['of a process that uses loopback only', LOCAL],
    ['of a process with TLS', { ...LOCAL, ...TLS, SERVICE_AGENTS_ADDRESS: 'agents:50051' }],
    ['about a service that the process does not call', { ...LOCAL, SERVICE_AUTH_ADDRESS: 'auth:50051' }],
  ])('does not occur in the log %s', (_, env) => {
    expect(warningOf(env)).toBeUndefined();
  });

  it('does not occur in target all, whose calls do not leave the process', () => {
    expect(warningOf({ SERVICE_GRPC_LISTEN: '0.0.0.0:50051' }, 'all')).toBeUndefined();
  });

  it('names all addresses other than loopback, and the settings', () => {
    const env = {
      ...LOCAL,
      SERVICE_GRPC_LISTEN: '0.0.0.0:50051',
      SERVICE_AGENTS_ADDRESS: '127.0.0.1:1,agents:2',
    };
    expect(warningOf(env)).toBe(
      'Calls between services are not encrypted: this process listens on 0.0.0.0:50051, calls agents:2. ' +
        'To encrypt them, set SERVICE_GRPC_TLS_CERT, SERVICE_GRPC_TLS_KEY, SERVICE_GRPC_TLS_CA.',
    );
  });
});

describe('TLS settings', () => {
  it('are all required when one is set', () => {
    const { problems } = read({ SERVICE_GRPC_TLS_KEY: 'key' }, 'all');
    expect(problems.map(({ variable, problem }) => [variable, problem])).toEqual([
      ['SERVICE_GRPC_TLS_CERT', 'is not set, and SERVICE_GRPC_TLS_KEY is'],
      ['SERVICE_GRPC_TLS_CA', 'is not set, and SERVICE_GRPC_TLS_KEY is'],
    ]);
  });

  it('must name usable files', async () => {
    const { config } = read({
      ...TLS,
      SERVICE_GRPC_TLS_CERT: '/no/such/file',
      SERVICE_GRPC_TLS_KEY: 'package.json',
    });
    expect(await checkTls(config)).toMatchObject([
      { variable: 'SERVICE_GRPC_TLS_CERT', problem: '("/no/such/file") cannot be read (ENOENT)' },
      { variable: 'SERVICE_GRPC_TLS_KEY', problem: '("package.json") contains no PEM private key' },
      { variable: 'SERVICE_GRPC_TLS_CA' },
    ]);
  });

  it('report no file when none is set, and in target all', async () => {
    expect(await checkTls(read({}).config)).toEqual([]);
    expect(await checkTls(read(TLS, 'all').config)).toEqual([]);
  });
});
