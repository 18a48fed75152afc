import { describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { isAlive } from '../support/processes.ts';
import { cleanUpPlaces, createPlace } from '../support/programs.ts';
import { type Frame, readStream } from '../support/stream.ts';
import { until } from '../support/wait.ts';
import { journalled, STORY, speaks, streamOf, tell } from './story.ts';

describe('SIGTERM and SIGINT', () => {
  cleanUpPlaces();

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s sends followers elsewhere, stops in order and loses no turn',
    async (signal) => {
      const place = await createPlace();
      const program = await place.start();
      const postgres = await place.postgresPid();
      const session = await tell(place);
      const url = streamOf(place, session);
      let followed: Frame[] = [];
      const reading = readStream(url, (frames) => {
        followed = frames;
        return false;
      });
      await until('the agent speaks', () => speaks(followed));
      program.kill(signal);
      const before = await reading;
      // The exit code is 1 when something did not stop in time.
      expect(await program.exited).toBe(0);
      expect(before.at(-1)?.event).toBe('stream.draining');
      expect(isAlive(postgres)).toBe(false);

      await place.start();
      const seen = journalled(before);
      const after = await readStream(url, (frames) => frames.at(-1)?.event === 'session.status_idle', {
        'Last-Event-ID': seen.at(-1)?.id ?? '',
      });
      const whole = [...seen, ...journalled(after)];
      expect(whole.map(({ id }) => Number(id))).toEqual(whole.map((_, index) => index + 1));
      expect(whole.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
      const { body } = await place.api.get(`/sessions/${session}/messages`);
      expect(body.data).toMatchObject([
        { role: 'user' },
        { role: 'agent', content: [{ type: 'text', text: STORY }] },
      ]);
    },
  );

  it.each(['start', 'dev'])('are obeyed when npm run %s gets one', async (script) => {
    const place = await createPlace();
    const npm = place.runScript(script);
    await until('the program is ready', () => place.isReady(), 30_000);
    const postgres = await place.postgresPid();
    npm.kill('SIGTERM');
    expect(await npm.exited).toBe(0);
    expect(isAlive(postgres)).toBe(false);
    await place.start();
  });

  it('are obeyed while a client takes its time to send', async () => {
    await using database = await createDatabase();
    const place = await createPlace();
    const program = await place.start({ SERVICE_DATABASE_URL: database.url });
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"name": ')),
    });
    const sending = fetch(`${place.api.origin}/api/v1/agents`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit).catch((error: unknown) => error);
    await place.api.get('/agents');
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    await sending;
  });
});
