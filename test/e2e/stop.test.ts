import { describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { cleanUpInstallations, createUsedInstallation } from '../support/installations.ts';
import { isAlive } from '../support/processes.ts';
import { type Frame, readStream } from '../support/stream.ts';
import { until } from '../support/wait.ts';
import { hasDelta, journalFrames, STORY, startStory, streamOf } from './story.ts';

describe('SIGTERM and SIGINT', () => {
  cleanUpInstallations();

  it('SIGTERM ends streams with stream.draining, stops all parts and loses no turn', async () => {
    const installation = await createUsedInstallation();
    const program = await installation.start();
    const postgres = await installation.postgresPid();
    const session = await startStory(installation);
    const url = streamOf(installation, session);
    let followed: Frame[] = [];
    const reading = readStream(url, (frames) => {
      followed = frames;
      return false;
    });
    await until('the agent streams its answer', () => hasDelta(followed));
    program.kill('SIGTERM');
    const before = await reading;
    // The exit code is 1 if a module did not stop in time.
    expect(await program.exited).toBe(0);
    expect(before.at(-1)?.event).toBe('stream.draining');
    expect(isAlive(postgres)).toBe(false);

    await installation.start();
    const seen = journalFrames(before);
    const after = await readStream(url, (frames) => frames.at(-1)?.event === 'session.status_idle', {
      'Last-Event-ID': seen.at(-1)?.id ?? '',
    });
    const allFrames = [...seen, ...journalFrames(after)];
    expect(allFrames.map(({ id }) => Number(id))).toEqual(allFrames.map((_, index) => index + 1));
    expect(allFrames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
    const { body } = await installation.api.get(`/sessions/${session}/messages`);
    expect(body.data).toMatchObject([
      { role: 'user' },
      { role: 'agent', content: [{ type: 'text', text: STORY }] },
    ]);
  });

  it.each(['start', 'dev'])('stop the program through npm run %s', async (script) => {
    const installation = await createUsedInstallation();
    const npm = installation.runScript(script);
    await until('the program is ready', () => installation.isReady());
    const postgres = await installation.postgresPid();
    npm.kill('SIGTERM');
    expect(await npm.exited).toBe(0);
    expect(isAlive(postgres)).toBe(false);
  });

  it('SIGINT stops the program while a client is sending a request slowly', async () => {
    await using database = await createDatabase();
    const installation = await createUsedInstallation();
    const program = await installation.start({ SERVICE_DATABASE_URL: database.url });
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"name": ')),
    });
    const sending = fetch(`${installation.api.origin}/api/v1/agents`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit).catch((error: unknown) => error);
    await installation.api.get('/agents');
    program.kill('SIGINT');
    expect(await program.exited).toBe(0);
    await sending;
  });
});
