import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { createLog } from '../../../lib/log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { createDatabase } from '../../support/database.ts';
import { runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { createdAssistant } from './assistants.ts';
import { alice, createAgent, openAgentsSystem } from './system.ts';

describe('the vaults of a deleted agent or assistant', () => {
  const log = createLog({ level: 'silent' });

  it('are removed at once', async () => {
    const removed: (string | undefined)[] = [];
    await using agents = await openAgentsSystem('in process', {
      deleteAssignments: async (id) => void removed.push(id),
    });
    const { assistantId } = await createdAssistant(agents);
    const agentId = await createAgent(agents);
    await agents.edge.deleteAgent({ agentId }, alice);
    await until('the vaults of the agent are removed', () => removed.length === 1);
    await agents.edge.deleteAssistant({ assistantId }, alice);
    await until('the vaults of the assistant are removed', () => removed.length === 2);
    expect(removed).toEqual([agentId, assistantId]);
  });

  it('are removed after a restart when the service vaults was unavailable', async () => {
    await using database = await createDatabase();
    const clock = createFakeClock();
    const removed: (string | undefined)[] = [];
    let isAvailable = false;
    let attempts = 0;
    const deleteAssignments = async (id: string | undefined) => {
      attempts += 1;
      if (!isAvailable) throw refuse('DEPENDENCY_UNAVAILABLE', 'the service cannot be reached');
      removed.push(id);
    };
    const options = { deleteAssignments, databaseUrl: database.url, log, clock };
    const earlier = await openAgentsSystem('in process', options);
    const agentId = await createAgent(earlier);
    await earlier.edge.deleteAgent({ agentId }, alice);
    await until('the removal was tried', () => attempts > 0);
    await earlier[Symbol.asyncDispose]();
    isAvailable = true;
    await using _later = await openAgentsSystem('in process', options);
    await until('the vaults are removed', () => {
      clock.advance(5_000);
      return removed.includes(agentId);
    });
  });

  it('are removed when an instance of the previous release has deleted the agent', async () => {
    await using database = await createDatabase();
    const clock = createFakeClock();
    const removed: (string | undefined)[] = [];
    const deleteAssignments = async (id: string | undefined) => void removed.push(id);
    await using agents = await openAgentsSystem('in process', {
      deleteAssignments,
      databaseUrl: database.url,
      clock,
    });
    const agentId = await createAgent(agents);
    await runOn(database.url, `update agents.agents set deleted_at = now() where agent_id = '${agentId}'`);
    await until('the vaults are removed', () => {
      clock.advance(30_000);
      return removed.includes(agentId);
    });
  });
});
