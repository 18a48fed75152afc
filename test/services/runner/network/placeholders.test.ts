import { describe, expect, it } from 'vitest';
import type {
  BoundVariable,
  EgressCredentials,
} from '../../../../services/runner/network/intercept/egress-credentials.ts';
import {
  findPlaceholders,
  type OutgoingRequest,
  refusePlaceholdersInBody,
  replacePlaceholder,
} from '../../../../services/runner/network/intercept/placeholders.ts';

const PLACEHOLDER = `ghp_${'Ab1_'.repeat(8)}`;
const TARGET = { host: 'api.hosts.test', port: 443 };
const RULES = {
  headers: ['authorization', 'x-key'],
  basic: true,
  query: ['key'],
  methods: [],
  pathPrefixes: [],
};
const VARIABLE: BoundVariable = {
  name: 'TOKEN',
  hosts: ['*.hosts.test'],
  placeholder: PLACEHOLDER,
  rules: RULES,
};
const credentials = {} as EgressCredentials;
const base64 = (text: string) => Buffer.from(text).toString('base64');

function request(parts: Partial<OutgoingRequest>): OutgoingRequest {
  return { method: 'GET', target: '/', headers: [], ...parts };
}

function swap(parts: Partial<OutgoingRequest>, variable = VARIABLE, isActive = true, target = TARGET) {
  const made = request(parts);
  const uses = findPlaceholders(made, [{ variable, credentials, isActive }], target);
  return uses.reduce((result, use) => replacePlaceholder(result, use, 's3cr&t+ value'), made);
}

describe('placeholders', () => {
  it('are replaced in named headers, in Basic and in named query members', () => {
    expect(swap({ headers: [['Authorization', `token ${PLACEHOLDER}`]] }).headers).toEqual([
      ['Authorization', 'token s3cr&t+ value'],
    ]);
    expect(
      swap({
        headers: [
          ['Host', 'a'],
          ['X-Key', PLACEHOLDER],
        ],
      }).headers,
    ).toEqual([
      ['Host', 'a'],
      ['X-Key', 's3cr&t+ value'],
    ]);
    const basic = [['authorization', `Basic ${base64(`me:${PLACEHOLDER}`)}`]] as [string, string][];
    expect(swap({ headers: basic }).headers).toEqual([
      ['authorization', `Basic ${base64('me:s3cr&t+ value')}`],
    ]);
    expect(swap({ target: `/a?b=%2F&key=${PLACEHOLDER}&c=d` }).target).toBe(
      '/a?b=%2F&key=s3cr%26t%2B%20value&c=d',
    );
    expect(swap({ target: `/a?k%65y=${PLACEHOLDER}` }).target).toBe('/a?k%65y=s3cr%26t%2B%20value');
  });

  it('leave other requests as they are', () => {
    const plain = request({ target: '/a?key=other&key', headers: [['Authorization', 'Basic !!!']] });
    expect(swap(plain)).toEqual(plain);
  });

  const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
  it.each<[string, Partial<OutgoingRequest>]>([
    ['the path', { target: `/${PLACEHOLDER}/x` }],
    ['the percent-encoded path', { target: `/${percent(PLACEHOLDER)}` }],
    ['another query member', { target: `/?other=${PLACEHOLDER}` }],
    ['the name of a query member', { target: `/?${PLACEHOLDER}=1` }],
    ['a percent-encoded query member', { target: `/?other=${percent(PLACEHOLDER)}` }],
    ['another header', { headers: [['X-Other', PLACEHOLDER]] }],
    ['the name of a header', { headers: [[PLACEHOLDER, '1']] }],
    [
      'Basic of another header',
      {
        headers: [
          ['X-Key', 'x'],
          ['Referer', `https://h/${PLACEHOLDER}`],
        ],
      },
    ],
    ['two places', { target: `/?key=${PLACEHOLDER}`, headers: [['X-Key', PLACEHOLDER]] }],
    ['one place twice', { headers: [['X-Key', `${PLACEHOLDER} ${PLACEHOLDER}`]] }],
    [
      'two headers of one name',
      {
        headers: [
          ['X-Key', PLACEHOLDER],
          ['X-Key', PLACEHOLDER],
        ],
      },
    ],
  ])('are refused in %s', (_, parts) => {
    expect(() => swap(parts)).toThrow(expect.objectContaining({ status: 403 }));
  });

  it('are refused in Basic or plain where the rules name the other only', () => {
    const withRules = (rules: Partial<BoundVariable['rules']>) => ({
      ...VARIABLE,
      rules: { ...RULES, ...rules },
    });
    const basic: Partial<OutgoingRequest> = {
      headers: [['Authorization', `Basic ${base64(`:${PLACEHOLDER}`)}`]],
    };
    expect(() => swap(basic, withRules({ basic: false }))).toThrow('allowed only in');
    const bearer: Partial<OutgoingRequest> = { headers: [['Authorization', `Bearer ${PLACEHOLDER}`]] };
    expect(() => swap(bearer, withRules({ headers: [] }))).toThrow('allowed only in');
  });

  it('are refused while no turn runs, and at another host of the sandbox', () => {
    const parts: Partial<OutgoingRequest> = { headers: [['X-Key', PLACEHOLDER]] };
    expect(() => swap(parts, VARIABLE, false)).toThrow('only while a turn of its session runs');
    expect(() => swap(parts, VARIABLE, true, { host: 'api.other', port: 443 })).toThrow('to this host');
    expect(() => swap(parts, VARIABLE, true, { host: 'api.hosts.test', port: 8443 })).toThrow('to this host');
  });

  it('are refused outside the methods and paths of the credential', () => {
    const narrow = { ...VARIABLE, rules: { ...RULES, methods: ['GET'], pathPrefixes: ['/v1'] } };
    const headers: [string, string][] = [['X-Key', PLACEHOLDER]];
    expect(swap({ headers, target: '/v1/x?y' }, narrow).headers).toEqual([['X-Key', 's3cr&t+ value']]);
    expect(() => swap({ headers, target: '/v1/x', method: 'POST' }, narrow)).toThrow('with the method POST');
    expect(() => swap({ headers, target: '/v1/../x' }, narrow)).toThrow('with this path');
  });

  it('are refused in a body', () => {
    const known = [{ variable: VARIABLE, credentials, isActive: true }];
    expect(() => refusePlaceholdersInBody(Buffer.from(`x${PLACEHOLDER}`), known)).toThrow('allowed only in');
    refusePlaceholdersInBody(Buffer.from('x'), known);
  });

  it('does not put a secret with line breaks into a header or an error', () => {
    const [use] = findPlaceholders(
      request({ headers: [['X-Key', PLACEHOLDER]] }),
      [{ variable: VARIABLE, credentials, isActive: true }],
      TARGET,
    );
    const inject = () =>
      replacePlaceholder(request({ headers: [['X-Key', PLACEHOLDER]] }), use!, 'se\r\ncret');
    expect(inject).toThrow('The credential has characters that a header cannot contain.');
  });
});
