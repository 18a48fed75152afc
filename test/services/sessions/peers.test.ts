import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { callableMethods } from '../../support/callable-methods.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { openSystem, type SessionsSystem } from './system.ts';

/** The RPCs that each service needs. */
const ALLOWED: Record<string, string[]> = {
  edge: [
    ...[
      'createConversation',
      'listSessions',
      'getSession',
      'updateSession',
      'archiveSession',
      'deleteSession',
    ],
    ...['sendMessage', 'listMessages', 'listTurns', 'getTurn', 'listEvents', 'follow', 'interruptSession'],
    ...['releaseQueue', 'cancelTurn', 'regenerateAnswer', 'compactSession', 'getSessionContext'],
    ...['forkSession', 'setAgentVersion', 'listApprovals', 'decideApproval'],
    ...['recordChat', 'findChat', 'continueChat', 'forgetChat'],
    ...['listToolCalls', 'submitToolResult', 'getSessionExtensions'],
    ...['listSandboxes', 'getSandbox', 'terminateSandbox'],
  ],
  runner: [
    'listMessages',
    'claimTurns',
    'renewLeases',
    'reportTurns',
    'deliverMessages',
    'takeSandbox',
    'reportSandboxes',
  ],
  deployments: [
    'getSession',
    ...['createSession', 'listDeploymentSessions', 'sendMessage', 'interruptSession'],
    ...['lookUpTurns', 'claimSignals', 'ackSignals', 'listApprovals', 'decideApproval'],
  ],
  channels: [
    ...['createSession', 'getSession', 'sendMessage', 'interruptSession', 'cancelTurn'],
    ...['listTurns', 'getTurn', 'listEvents', 'follow', 'listApprovals'],
  ],
  files: ['locateWorkspace', 'appendFileEvents', 'listReferencedParts'],
  vaults: ['checkLease', 'resolveAuthorizations'],
  agents: [],
  auth: [],
  sessions: [],
  stranger: [],
};

describe.each(TRANSPORTS)('authorization of calling services over %s', (transport) => {
  let system: SessionsSystem;
  beforeAll(async () => {
    system = await openSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('lets %s call exactly the RPCs it needs', async (peer) => {
    expect(await callableMethods(SessionsServiceDefinition, system.as(peer))).toEqual(
      ALLOWED[peer]?.toSorted(),
    );
  });

  it('lets at least one service call each RPC', () => {
    const called = new Set(Object.values(ALLOWED).flat());
    expect([...called].toSorted()).toEqual(Object.keys(SessionsServiceDefinition.methods).toSorted());
  });
});
