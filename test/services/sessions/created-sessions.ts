import { afterEach, expect } from 'vitest';
import { Refusal } from '../../../lib/errors.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import { createConversation, OWNER, type openSystem } from './system.ts';

type OpenedSystem = Awaited<ReturnType<typeof openSystem>>;

/**
 * Returns functions that create sessions of OWNER, and register sessions created otherwise. They are deleted after each
 * test, also after a failed one, so that the next test does not claim their turns. All sessions must satisfy the
 * invariants before and after that.
 */
export function trackSessions(systemOf: () => OpenedSystem) {
  const created: string[] = [];
  const track = (sessionId: string) => {
    created.push(sessionId);
    return sessionId;
  };
  afterEach(async () => {
    const system = systemOf();
    const faults = await brokenInvariants(system.database.url);
    for (const sessionId of created.splice(0)) await deleteUnlessDeleted(system, sessionId);
    expect(faults).toEqual([]);
    expect(await brokenInvariants(system.database.url)).toEqual([]);
  });
  return {
    track,
    begin: async (text?: string) => track(await createConversation(systemOf(), text)),
  };
}

async function deleteUnlessDeleted({ edge }: OpenedSystem, sessionId: string): Promise<void> {
  try {
    await edge.deleteSession({ sessionId }, { caller: OWNER });
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'SESSION_NOT_FOUND')) throw error;
  }
}
