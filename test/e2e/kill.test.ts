import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../support/processes.ts';
import { cleanUpPlaces, createPlace } from '../support/programs.ts';
import { readStream } from '../support/stream.ts';
import { until } from '../support/wait.ts';
import { speaks, streamOf, tell } from './story.ts';

describe('kill -9', () => {
  cleanUpPlaces();

  it('leaves no PostgreSQL behind, and the next start goes on with the turn', async () => {
    const place = await createPlace();
    const program = await place.start({ SERVICE_TURN_LEASE_SECONDS: '2' });
    const postgres = await place.postgresPid();
    const session = await tell(place);
    const url = streamOf(place, session);
    await readStream(url, speaks);
    program.kill('SIGKILL');
    await program.exited;
    await until('PostgreSQL has ended', () => !isAlive(postgres));
    await place.start({ SERVICE_TURN_LEASE_SECONDS: '2' });
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  });

  it('of the embedded PostgreSQL is healed by itself; until then answers are 503', async () => {
    const place = await createPlace();
    await place.start();
    const { api } = place;
    const webhook = await api.createWebhook(await api.createAgent());
    const settings = join(place.dataDir, 'postgres/cluster/data/postgresql.auto.conf');
    const kept = await readFile(settings, 'utf8');
    // It cannot come back before this is mended, so that there is something to see.
    await appendFile(settings, 'nonsense = 1\n');
    const postgres = await place.postgresPid();
    process.kill(postgres, 'SIGKILL');

    await until('it is not ready', async () => !(await place.isReady()));
    const unavailable = { status: 503, body: { code: 'DEPENDENCY_UNAVAILABLE', error: { retryable: true } } };
    expect(await api.get('/sessions')).toMatchObject(unavailable);
    expect(await api.trigger(webhook, 'now?')).toMatchObject(unavailable);
    expect((await fetch(`${api.origin}/livez`)).status).toBe(200);

    await writeFile(settings, kept);
    await until('it is ready again', () => place.isReady());
    expect(await place.postgresPid()).not.toBe(postgres);
    const accepted = await api.trigger(webhook, 'now!');
    expect(accepted.status).toBe(200);
    const url = streamOf(place, String(accepted.body.data.session_id));
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  });
});
