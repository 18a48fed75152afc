import { afterEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { createLog } from '../../../lib/log.ts';
import type { Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import { createFakeClock } from '../../support/clock.ts';
import { createDatabase } from '../../support/database.ts';
import { until } from '../../support/wait.ts';
import { createdAssistant } from './assistants.ts';
import { alice, created, openAgentsUnderTest } from './open.ts';

describe('the workspace of a deleted assistant', () => {
  const log = createLog({ level: 'silent', pretty: false });
  afterEach(() => {
    gone.length = 0;
    failing.clear();
  });

  const gone: string[] = [];
  /** Workspaces that the files service cannot delete at the moment. */
  const failing = new Set<string>();
  let asked = 0;
  async function deleteWorkspace(place: Place | undefined): Promise<void> {
    asked += 1;
    const id = place?.of?.$case === 'assistantId' ? place.of.value : '';
    if (failing.has(id)) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database cannot be reached');
    gone.push(id);
  }

  it('goes at once, and that of no agent does', async () => {
    await using agents = await openAgentsUnderTest('in process', { deleteWorkspace });
    const { assistantId } = await createdAssistant(agents);
    const agentId = await created(agents);
    await agents.edge.deleteAgent({ agentId }, alice);
    await agents.edge.deleteAssistant({ assistantId }, alice);
    await until('its workspace is gone', () => gone.length > 0);
    expect(gone).toEqual([assistantId]);
  });

  it('is tried again until it is gone, and keeps no other one waiting', async () => {
    const clock = createFakeClock();
    await using agents = await openAgentsUnderTest('in process', { deleteWorkspace, clock, log });
    const { assistantId: first } = await createdAssistant(agents);
    const { assistantId: second } = await createdAssistant(agents);
    failing.add(first);
    await agents.edge.deleteAssistant({ assistantId: first }, alice);
    await agents.edge.deleteAssistant({ assistantId: second }, alice);
    await until('the second is gone', () => gone.includes(second));
    const before = asked;
    await until('the first is tried again', () => {
      clock.advance(30_000);
      return asked > before + 1;
    });
    expect(gone).toEqual([second]);
    failing.clear();
    await until('the first is gone', () => {
      clock.advance(30_000);
      return gone.includes(first);
    });
    expect(gone).toEqual([second, first]);
  });

  it('is remembered over a restart', async () => {
    await using database = await createDatabase();
    const clock = createFakeClock();
    const options = { deleteWorkspace, databaseUrl: database.url, log, clock };
    const earlier = await openAgentsUnderTest('in process', options);
    const { assistantId } = await createdAssistant(earlier);
    failing.add(assistantId);
    const before = asked;
    await earlier.edge.deleteAssistant({ assistantId }, alice);
    await until('it was tried', () => asked > before);
    await earlier[Symbol.asyncDispose]();
    failing.clear();
    await using _later = await openAgentsUnderTest('in process', options);
    await until('it is gone', () => {
      clock.advance(5_000);
      return gone.includes(assistantId);
    });
  });

  it('is not waited for when the service stops', async () => {
    const waiting = Promise.withResolvers<void>();
    const hanging = Promise.withResolvers<void>();
    const deleteAndHang = () => {
      waiting.resolve();
      return hanging.promise;
    };
    const agents = await openAgentsUnderTest('in process', { log, deleteWorkspace: deleteAndHang });
    const { assistantId } = await createdAssistant(agents);
    await agents.edge.deleteAssistant({ assistantId }, alice);
    await waiting.promise;
    await agents[Symbol.asyncDispose]();
    hanging.resolve();
  });
});
