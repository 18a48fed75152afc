import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { callableMethods } from '../../support/callable-methods.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type FilesSystem, openFilesSystem } from './system.ts';

/** The RPCs that each peer needs. */
const ALLOWED: Record<string, string[]> = {
  edge: [
    ...['writeContents', 'changeWorkspace', 'getWorkspace', 'listEntries', 'getEntry', 'readContent'],
    ...['readArchive', 'listChanges', 'createUpload', 'readPart'],
  ],
  runner: [
    ...['writeContents', 'changeWorkspace', 'commitChanges', 'listEntries', 'getEntry', 'readContent'],
    ...['attachWorkspace', 'checkout', 'readPart', 'storeParts'],
  ],
  channels: ['writeContents', 'changeWorkspace', 'listEntries', 'getEntry', 'readContent'],
  sessions: ['forkWorkspace', 'deleteWorkspace', 'storeParts', 'placeUploads'],
  agents: ['deleteWorkspace', 'putSkillTree', 'deleteSkillTree'],
  deployments: [],
  auth: [],
  files: [],
  stranger: [],
};

describe.each(TRANSPORTS)('the peers of the files service, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('allows %s to call only its RPCs', async (peer) => {
    expect(await callableMethods(FilesServiceDefinition, system.as(peer))).toEqual(ALLOWED[peer]?.toSorted());
  });

  it('lists at least one peer for every RPC', () => {
    const called = new Set(Object.values(ALLOWED).flat());
    expect([...called].toSorted()).toEqual(Object.keys(FilesServiceDefinition.methods).toSorted());
  });
});
