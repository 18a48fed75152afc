import { describe, expect, it } from 'vitest';
import { applyCallerRules, parseCallerRules, problemOfRules } from '../../../lib/grpc/caller-rules.ts';
import { guardService } from '../../../lib/grpc/guard.ts';
import { AuthServiceDefinition as Contract } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { callableMethods } from '../../support/callable-methods.ts';
import { ALL_TRANSPORTS, connect, createContext } from '../../support/context.ts';

const methods = Object.keys(Contract.methods) as (keyof typeof Contract.methods)[];
/** Defaults under which only the edge may call. */
const peers = Object.fromEntries(methods.map((method) => [method, ['edge']])) as Record<
  (typeof methods)[number],
  string[]
>;
const callersAfter = (rules: string) => applyCallerRules(Contract, peers, parseCallerRules(rules));

describe('caller rules', () => {
  it('add callers to one RPC and leave the others unchanged', () => {
    expect(callersAfter('auth.GetUser+=billing, reports')).toEqual({
      ...peers,
      getUser: ['edge', 'billing', 'reports'],
    });
  });

  it('replace the callers of one RPC', () => {
    expect(callersAfter('auth.GetUser=billing').getUser).toEqual(['billing']);
  });

  it('apply to every RPC of the service without a method, in their order', () => {
    const callers = callersAfter('auth=; auth.GetUser=billing; auth.ListUsers+=reports;');
    const allowed = Object.entries(callers).filter(([, names]) => names.length > 0);
    expect(Object.fromEntries(allowed)).toEqual({ getUser: ['billing'], listUsers: ['reports'] });
  });

  it.each([
    ['auth.GetUser', 'has the rule auth.GetUser, which is not of this form'],
    ['auth.GetUser+=', 'has the rule auth.GetUser+=, which names no caller'],
    ['auth+=Billing', 'has the caller Billing; a name has a–z, 0–9 and -, and begins with a letter'],
  ])('reject %s', (rules, message) => {
    expect(() => parseCallerRules(rules)).toThrow(message);
  });

  it.each([
    ['auth.GetUser+=billing', undefined],
    ['auht.GetUser+=billing', 'names the unknown service auht'],
    ['auth.getUser+=billing', 'names the unknown method getUser of the service auth'],
  ])('are checked against the contracts: %s', (rules, problem) => {
    expect(problemOfRules(parseCallerRules(rules), { auth: Contract })).toBe(problem);
  });
});

describe.each(ALL_TRANSPORTS)('a service with caller rules, over %s', (transport) => {
  it('accepts a caller of another team for the named RPC only', async () => {
    const context = createContext('', { callerRules: parseCallerRules('auth.GetUser+=billing') });
    const handlers = Object.fromEntries(methods.map((method) => [method, async () => ({})]));
    const endpoint = guardService(context, { contract: Contract, handlers: handlers as never, peers });
    await using connected = await connect(Contract, endpoint, transport, context);
    expect(await callableMethods(Contract, connected.as('billing'))).toEqual(['getUser']);
    expect(await callableMethods(Contract, connected.as('edge'))).toEqual(methods.toSorted());
  });
});
