import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { openTo } from '../../support/peers.ts';
import { type House, openHouse } from './house.ts';

/** Who needs what. */
const ALLOWED: Record<string, string[]> = {
  edge: [
    ...['writeContents', 'changeWorkspace', 'getWorkspace', 'listEntries', 'getEntry', 'readContent'],
    ...['readArchive', 'listChanges'],
  ],
  runner: [
    ...['writeContents', 'changeWorkspace', 'listEntries', 'getEntry', 'readContent'],
    ...['attachWorkspace', 'checkout'],
  ],
  sessions: ['forkWorkspace', 'deleteWorkspace'],
  agents: ['deleteWorkspace'],
  deployments: [],
  auth: [],
  files: [],
  stranger: [],
};

describe.each(TRANSPORTS)('who may ask files what, %s', (transport) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('lets %s call what it needs and nothing else', async (peer) => {
    expect(await openTo(FilesServiceDefinition, house.as(peer))).toEqual(ALLOWED[peer]?.toSorted());
  });

  it('leaves nothing that nobody may call', () => {
    const called = new Set(Object.values(ALLOWED).flat());
    expect([...called].toSorted()).toEqual(Object.keys(FilesServiceDefinition.methods).toSorted());
  });
});
