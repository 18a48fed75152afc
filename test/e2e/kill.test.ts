import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanUpInstallations, createUsedInstallation } from '../support/installations.ts';
import { isAlive } from '../support/processes.ts';
import { readStream } from '../support/stream.ts';
import { until } from '../support/wait.ts';
import { hasDelta, startStory, streamOf } from './story.ts';

describe('kill -9', () => {
  cleanUpInstallations();

  it('of the program ends the embedded PostgreSQL, and the next start continues the turn', async () => {
    const installation = await createUsedInstallation();
    const program = await installation.start({ SERVICE_TURN_LEASE_SECONDS: '2' });
    const postgres = await installation.postgresPid();
    const session = await startStory(installation);
    const url = streamOf(installation, session);
    await readStream(url, hasDelta);
    program.kill('SIGKILL');
    await program.exited;
    await until('PostgreSQL has ended', () => !isAlive(postgres));
    // With the default lease, a slow machine does not lose the turn again.
    await installation.start();
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  });

  it('of the embedded PostgreSQL returns 503 until the program has restarted it', async () => {
    const installation = await createUsedInstallation();
    await installation.start();
    const { api } = installation;
    const webhook = await api.createWebhook(await api.createAgent());
    const settings = join(installation.dataDir, 'postgres/cluster/data/postgresql.auto.conf');
    const originalSettings = await readFile(settings, 'utf8');
    // An invalid setting prevents the restart, so that the outage lasts until it is removed.
    await appendFile(settings, 'nonsense = 1\n');
    const postgres = await installation.postgresPid();
    process.kill(postgres, 'SIGKILL');

    await until('the service is not ready', async () => !(await installation.isReady()));
    const unavailable = { status: 503, body: { code: 'DEPENDENCY_UNAVAILABLE', error: { retryable: true } } };
    expect(await api.get('/sessions')).toMatchObject(unavailable);
    expect(await api.trigger(webhook, 'now?')).toMatchObject(unavailable);
    expect((await fetch(`${api.origin}/livez`)).status).toBe(200);

    await writeFile(settings, originalSettings);
    await until('the service is ready again', () => installation.isReady());
    expect(await installation.postgresPid()).not.toBe(postgres);
    const accepted = await api.trigger(webhook, 'now!');
    expect(accepted.status).toBe(200);
    const url = streamOf(installation, String(accepted.body.data.session_id));
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  });
});
