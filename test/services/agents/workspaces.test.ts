import { afterEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { createLog } from '../../../lib/log.ts';
import type { Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import { createFakeClock } from '../../support/clock.ts';
import { createDatabase } from '../../support/database.ts';
import { until } from '../../support/wait.ts';
import { createdAssistant } from './assistants.ts';
import { alice, createAgent, openAgentsSystem } from './system.ts';

describe('the workspace of a deleted assistant', () => {
  const log = createLog({ level: 'silent' });
  afterEach(() => {
    deleted.length = 0;
    failing.clear();
  });

  const deleted: string[] = [];
  /** Workspaces that the fake files service fails to delete. */
  const failing = new Set<string>();
  let attempts = 0;
  async function deleteWorkspace(place: Place | undefined): Promise<void> {
    attempts += 1;
    const id = place?.of?.$case === 'assistantId' ? place.of.value : '';
    if (failing.has(id)) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database cannot be reached');
    deleted.push(id);
  }

  it('is deleted at once; the deletion of an agent deletes no workspace', async () => {
    await using agents = await openAgentsSystem('in process', { deleteWorkspace });
    const { assistantId } = await createdAssistant(agents);
    const agentId = await createAgent(agents);
    await agents.edge.deleteAgent({ agentId }, alice);
    await agents.edge.deleteAssistant({ assistantId }, alice);
    await until('its workspace is deleted', () => deleted.length > 0);
    expect(deleted).toEqual([assistantId]);
  });

  it('is deleted with retries that do not delay other deletions', async () => {
    const clock = createFakeClock();
    await using agents = await openAgentsSystem('in process', { deleteWorkspace, clock, log });
    const { assistantId: first } = await createdAssistant(agents);
    const { assistantId: second } = await createdAssistant(agents);
    failing.add(first);
    await agents.edge.deleteAssistant({ assistantId: first }, alice);
    await agents.edge.deleteAssistant({ assistantId: second }, alice);
    await until('the second workspace is deleted', () => deleted.includes(second));
    const before = attempts;
    await until('the deletion of the first workspace is retried', () => {
      clock.advance(30_000);
      return attempts > before + 1;
    });
    expect(deleted).toEqual([second]);
    failing.clear();
    await until('the first workspace is deleted', () => {
      clock.advance(30_000);
      return deleted.includes(first);
    });
    expect(deleted).toEqual([second, first]);
  });

  it('is deleted after a restart', async () => {
    await using database = await createDatabase();
    const clock = createFakeClock();
    const options = { deleteWorkspace, databaseUrl: database.url, log, clock };
    const earlier = await openAgentsSystem('in process', options);
    const { assistantId } = await createdAssistant(earlier);
    failing.add(assistantId);
    const before = attempts;
    await earlier.edge.deleteAssistant({ assistantId }, alice);
    await until('the deletion was tried', () => attempts > before);
    await earlier[Symbol.asyncDispose]();
    failing.clear();
    await using _later = await openAgentsSystem('in process', options);
    await until('the workspace is deleted', () => {
      clock.advance(5_000);
      return deleted.includes(assistantId);
    });
  });

  it('does not delay the stop of the service', async () => {
    const waiting = Promise.withResolvers<void>();
    const hanging = Promise.withResolvers<void>();
    const deleteAndHang = () => {
      waiting.resolve();
      return hanging.promise;
    };
    const agents = await openAgentsSystem('in process', { log, deleteWorkspace: deleteAndHang });
    const { assistantId } = await createdAssistant(agents);
    await agents.edge.deleteAssistant({ assistantId }, alice);
    await waiting.promise;
    await agents[Symbol.asyncDispose]();
    hanging.resolve();
  });
});
