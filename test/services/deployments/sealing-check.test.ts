import { describe, expect, it } from 'vitest';
import { createSealer, SealingKeyProblem } from '../../../lib/sealing.ts';
import { createDatabase } from '../../support/database.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import { AGENT, OWNER, openDeploymentsSystem } from './system.ts';

const OLD = 'the old sealing key of more than 32 characters';
const NEW = 'the new sealing key of more than 32 characters';
const [OLD_ID = ''] = createSealer(OLD).keyIds;
const [NEW_ID = ''] = createSealer(NEW).keyIds;

const textsIn = (databaseUrl: string) =>
  rowsOn<{ sealed_text: string }>(databaseUrl, 'select sealed_text from deployments.sealing_check');

/** Opens and closes the service. Returns its system, of which only `create` may have been used in `work`. */
async function openOnce(
  databaseUrl: string,
  sealingKey: string,
  work: (system: Awaited<ReturnType<typeof openDeploymentsSystem>>) => Promise<unknown> = async () => {},
): Promise<void> {
  await using system = await openDeploymentsSystem('in process', { databaseUrl, sealingKey });
  await work(system);
}

describe('the sealing check of the deployments service', () => {
  it('creates the known text on an empty database, once for processes that start together', async () => {
    await using database = await createDatabase();
    await Promise.all([1, 2, 3].map(() => openOnce(database.url, OLD)));
    const [text, ...others] = await textsIn(database.url);
    expect(text?.sealed_text).toMatch(new RegExp(`^v1\\.${OLD_ID}\\.`));
    expect(others).toEqual([]);
  });

  it('accepts one of two keys with which processes start together on an empty database', async () => {
    await using database = await createDatabase();
    const starts = await Promise.allSettled([openOnce(database.url, OLD), openOnce(database.url, NEW)]);
    expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(starts.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: expect.any(SealingKeyProblem),
    });
  });

  it('names the missing key and changes nothing when the key is wrong', async () => {
    await using database = await createDatabase();
    await openOnce(database.url, OLD);
    const before = await textsIn(database.url);
    await expect(openOnce(database.url, NEW)).rejects.toThrow(
      `the key ${OLD_ID}, with which the database was sealed, is missing (configured: ${NEW_ID})`,
    );
    expect(await textsIn(database.url)).toEqual(before);
  });

  it('opens a stored secret before it writes the text to a database of an earlier release', async () => {
    await using database = await createDatabase();
    await openOnce(database.url, OLD, (system) => system.create());
    await runOn(database.url, 'delete from deployments.sealing_check');
    await expect(openOnce(database.url, NEW)).rejects.toThrow(`the key ${OLD_ID}`);
    expect(await textsIn(database.url)).toEqual([]);
    await openOnce(database.url, OLD);
    expect(await textsIn(database.url)).toHaveLength(1);
  });

  it('requires a former key until no secret needs it', async () => {
    await using database = await createDatabase();
    await openOnce(database.url, OLD, (system) => system.create());
    await openOnce(database.url, `${NEW},${OLD}`, (system) => system.create());
    await expect(openOnce(database.url, NEW)).rejects.toThrow(`the key ${OLD_ID}`);
    await expect(openOnce(database.url, OLD)).rejects.toThrow(`the key ${NEW_ID}`);
    await runOn(
      database.url,
      `delete from deployments.deployments where sealed_secret like 'v1.${OLD_ID}.%'`,
    );
    await openOnce(database.url, NEW);
  });

  it('requires a former key until no channel and no removal needs it', async () => {
    await using database = await createDatabase();
    const credentials = (context: string) => createSealer(OLD).seal('{}', context);
    const deploymentId = 'dep_00000000000000000000000001';
    await openOnce(database.url, OLD);
    await runOn(
      database.url,
      `set search_path = deployments;
       insert into connections (deployment_id, owner_id, provider, mode, wanted, revision, state, since, sealed_credentials)
       values ('${deploymentId}', 'usr_1', 'telegram', 'http', 'remove', 1, 'off', now(),
         '${credentials(`channel credentials of ${deploymentId}`)}')`,
    );
    await openOnce(database.url, `${NEW},${OLD}`);
    await expect(openOnce(database.url, NEW)).rejects.toThrow(`the key ${OLD_ID}`);
    await runOn(database.url, 'delete from deployments.connections');
    await openOnce(database.url, NEW);
  });

  it('names the missing key of the credentials of a channel', async () => {
    await using database = await createDatabase();
    const create = async (system: Awaited<ReturnType<typeof openDeploymentsSystem>>) => {
      const request = {
        ...{ agentId: AGENT, type: 'channel', name: 'Support', metadata: {}, idempotencyKey: '' },
        ...{ schedule: undefined, acceptsSealedSecret: true },
        channel: { provider: 'http', config: undefined, credentials: undefined, credentialNames: [] },
      };
      await system.edge.createDeployment(request, { caller: OWNER, requestId: 'req_1' });
    };
    await openOnce(database.url, OLD, create);
    await expect(openOnce(database.url, NEW)).rejects.toThrow(`the key ${OLD_ID}`);
    await openOnce(database.url, `${NEW},${OLD}`, create);
  });
});
