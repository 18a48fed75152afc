import { describe, expect, it } from 'vitest';
import { variableNameProblem } from '../../lib/variables.ts';

describe('variableNameProblem', () => {
  it.each([
    ...['PATH', 'LD_PRELOAD', 'https_proxy', 'SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'],
    ...['REQUESTS_CA_BUNDLE', 'PIP_CERT', 'AWS_CA_BUNDLE', 'CARGO_HTTP_CAINFO', 'DENO_CERT'],
    ...['npm_config_cafile', 'NODE_EXTRA_CA_CERTS', 'GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0'],
  ])('reports %s as reserved', (name) => {
    expect(variableNameProblem(name)).toBe('reserved');
  });

  it.each(['GITHUB_TOKEN', '_', 'GIT_AUTHOR_NAME', 'NPM_TOKEN', 'my_proxy'])('accepts %s', (name) => {
    expect(variableNameProblem(name)).toBeUndefined();
  });

  it.each(['', '1A', 'A-B', 'A'.repeat(129)])('reports %j as malformed', (name) => {
    expect(variableNameProblem(name)).toBe('malformed');
  });
});
