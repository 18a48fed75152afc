import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { openTo } from '../../support/peers.ts';
import { type House, openHouse } from './house.ts';

/** Who needs what. */
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
    ...['forkSession', 'setAgentVersion', 'listApprovals', 'decideApproval'],
    ...['listSandboxes', 'getSandbox', 'terminateSandbox'],
  ],
  runner: ['listMessages', 'claimTurns', 'renewLeases', 'reportTurns', 'takeSandbox', 'reportSandboxes'],
  deployments: ['createSession', 'listDeploymentSessions'],
  files: ['locateWorkspace', 'appendFileEvents'],
  agents: [],
  auth: [],
  sessions: [],
  stranger: [],
};

describe.each(TRANSPORTS)('who may ask sessions what, %s', (transport) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('lets %s call what it needs and nothing else', async (peer) => {
    expect(await openTo(SessionsServiceDefinition, house.as(peer))).toEqual(ALLOWED[peer]?.toSorted());
  });

  it('leaves nothing that nobody may call', () => {
    const called = new Set(Object.values(ALLOWED).flat());
    expect([...called].toSorted()).toEqual(Object.keys(SessionsServiceDefinition.methods).toSorted());
  });
});
