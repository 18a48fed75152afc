import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { variableNameProblem } from '../../../../lib/variables.ts';
import { egressVariables } from '../../../../services/runner/network/intercept/command-variables.ts';

const RULES = { headers: ['authorization'], basic: true, query: [], methods: [], pathPrefixes: [] };
const TOKEN = { name: 'TOKEN', placeholder: 'ghp_0123', hosts: ['git.test', '*.hub.test'], rules: RULES };

describe('egressVariables', () => {
  it('returns placeholders, certificates, and a credential helper of git per host', () => {
    const other = { name: 'OTHER', placeholder: 'p', hosts: ['api.test'], rules: { ...RULES, basic: false } };
    const variables = egressVariables({ variables: [TOKEN, other] });
    expect(variables).toMatchObject({
      TOKEN: 'ghp_0123',
      OTHER: 'p',
      SSL_CERT_FILE: '/run/ahs/ca-bundle.pem',
      NODE_EXTRA_CA_CERTS: '/run/ahs/proxy-ca.pem',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'credential.https://git.test.helper',
      GIT_CONFIG_KEY_1: 'credential.https://*.hub.test.helper',
    });
    const helper = (variables.GIT_CONFIG_VALUE_0 ?? '').replace(/^!/, '');
    expect(execFileSync('sh', ['-c', `${helper} get`]).toString()).toBe(
      'username=x-access-token\npassword=ghp_0123\n',
    );
  });

  it('sets reserved names only, beside the placeholders', () => {
    const { TOKEN: _, ...others } = egressVariables({ variables: [TOKEN] });
    for (const name of Object.keys(others))
      expect([name, variableNameProblem(name)]).toEqual([name, 'reserved']);
  });
});
