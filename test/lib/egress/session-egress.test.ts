import { describe, expect, it } from 'vitest';
import { hostEgress, variableEgress } from '../../../lib/egress/session-egress.ts';
import { sharedHosts } from '../../../lib/egress/shared-hosts.ts';

const READY = { state: 'ready', reason: '' };
const ENVIRONMENT = {
  networkMode: 'limited',
  allowedHosts: ['api.example.org', '*.example.com'],
  variables: ['SET'],
};

describe('sharedHosts', () => {
  it.each<[string, string, string[]]>([
    ['api.example.org', 'api.example.org', ['api.example.org']],
    ['api.example.org', '*.example.org', ['api.example.org']],
    ['*.example.org', 'api.example.org', ['api.example.org']],
    ['*.example.org', '*.api.example.org', ['*.api.example.org']],
    ['*.api.example.org', '*.example.org', ['*.api.example.org']],
    ['*.example.org', '*.example.org', ['*.example.org']],
    ['*.example.org', 'example.org', []],
    ['example.org', '*.example.org', []],
    ['*.example.org', 'badexample.org', []],
    ['api.example.org', 'other.example.org', []],
    ['api.example.org', 'api.example.org:443', ['api.example.org']],
    ['api.example.org', 'api.example.org:80', []],
    ['api.example.org', 'api.example.org:8443', []],
    ['api.example.org:8443', 'api.example.org', []],
    ['api.example.org:8443', '*.example.org:8443', ['api.example.org:8443']],
    ['*.example.org:443', 'API.example.org', ['api.example.org:443']],
    ['not a host', 'not a host', []],
  ])('of %s and the allowed host %s', (ofCredential, allowed, expected) => {
    expect(sharedHosts([ofCredential], [allowed])).toEqual(expected);
  });

  it('of several patterns are named once', () => {
    const allowed = ['api.example.org', '*.example.org', 'www.example.org'];
    expect(sharedHosts(['*.example.org', 'api.example.org'], allowed)).toEqual([
      'api.example.org',
      '*.example.org',
      'www.example.org',
    ]);
  });
});

describe('variableEgress', () => {
  const variable = { name: 'TOKEN', hosts: ['api.example.org', 'other.example.org'], ...READY };

  it('is ready for the hosts that the environment allows', () => {
    expect(variableEgress(variable, ENVIRONMENT)).toEqual({ ...READY, hosts: ['api.example.org'] });
  });

  it.each([
    ['conflict', { name: 'SET' }, {}, 'The environment sets this variable. Its value counts.'],
    ['conflict', { name: 'SET', state: 'disabled' }, { networkMode: 'none' }, /environment sets/],
    ['network_not_limited', {}, { networkMode: 'none', allowedHosts: [] }, /mode of the environment is none/],
    ['network_not_limited', { state: 'refused' }, { networkMode: 'unrestricted' }, /need the mode limited/],
    [
      'host_not_allowed',
      { hosts: ['a.test', 'b.test'] },
      {},
      'The environment does not allow a.test, b.test.',
    ],
    ['refused', { state: 'refused', reason: 'Refused.' }, {}, 'Refused.'],
    ['disabled', { state: 'disabled', reason: 'Disabled.' }, {}, 'Disabled.'],
    ['vault_sealed', { state: 'vault_sealed', reason: 'Sealed.' }, {}, 'Sealed.'],
  ] as const)('is %s for %o in %o', (state, members, environment, reason) => {
    const egress = variableEgress({ ...variable, ...members }, { ...ENVIRONMENT, ...environment });
    expect(egress).toEqual({
      ...{ state, hosts: [] },
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    });
  });
});

describe('hostEgress', () => {
  it('is ready for the part of its host that the environment allows', () => {
    expect(hostEgress({ host: '*.api.example.com', ...READY }, ENVIRONMENT)).toEqual({
      ...READY,
      hosts: ['*.api.example.com'],
    });
    expect(hostEgress({ host: '*.example.net', ...READY }, ENVIRONMENT).state).toBe('host_not_allowed');
  });
});
