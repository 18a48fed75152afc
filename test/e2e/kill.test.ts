import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanUpInstallations, createUsedInstallation } from '../support/installations.ts';
import { isAlive } from '../support/processes.ts';
import type { Program } from '../support/program.ts';
import { compatible } from '../support/providers/compatible.ts';
import { openStrictProvider } from '../support/providers/strict-provider.ts';
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

  it('of the program after the summary of a compaction on demand leaves one event', async () => {
    let program: Program | undefined;
    await using provider = await openStrictProvider({
      window: 40_000,
      answer: () => [{ text: 'Done.' }],
      // The program ends before it can journal the event.
      summary() {
        program?.kill('SIGKILL');
        return 'The user asks questions.';
      },
    });
    const env = {
      SERVICE_MODEL_ENDPOINTS: `local-1=${provider.url}/api/v1`,
      SERVICE_TURN_LEASE_SECONDS: '2',
    };
    const installation = await createUsedInstallation();
    const { api } = installation;
    program = await installation.start(env);
    const agent = await api.createAgent({ model: compatible.model, context: { keep_turns: 1 } });
    const { body } = await api.post(`/agents/${agent}/conversations`, {});
    const session = `/sessions/${body.data.session_id}`;
    for (const content of ['one '.repeat(400), 'two'])
      await api.post(`${session}/messages`, { content, wait_seconds: 50 });
    const { body: accepted } = await api.post(`${session}/compact`);
    await program.exited;
    program = undefined;
    await installation.start(env);
    const turn = await api.get(`${session}/turns/${accepted.data.turn_id}?wait_seconds=50`);
    expect(turn.body.data).toMatchObject({ kind: 'compaction', status: 'completed', attempt: 2 });
    expect(provider.requests.filter(({ isSummary }) => isSummary)).toHaveLength(2);
    const compacted = await api.list(`${session}/events?types=agent.context_compacted`);
    expect(compacted).toMatchObject([{ turn_id: accepted.data.turn_id, data: { strategy: 'summarize' } }]);
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
