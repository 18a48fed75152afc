import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOf, createA2aClient, resultsOf, sendRequest } from '../../../edge/protocols/a2a/client.ts';
import { type Fleet, startFleet } from '../../../support/fleet.ts';
import { freePort } from '../../../support/port.ts';
import { SERVICES } from '../../../support/targets.ts';
import { until } from '../../../support/wait.ts';

const START_MS = 240_000;
const WORDS = 'one two three four five six seven eight nine ten ';

describe('A2A tasks at two edges', () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let there: string;
  const isReady = async (origin: string) =>
    (await fetch(`${origin}/readyz`).catch(() => undefined))?.ok ?? false;

  beforeAll(async () => {
    fleet = stack.use(await startFleet());
    const port = String(await freePort());
    fleet.add('edge 2', 'edge', { SERVICE_PORT: port, SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}` });
    await fleet.run('edge 2');
    there = `http://127.0.0.1:${port}`;
    await until('the other edge is ready', () => isReady(there), START_MS);
  }, START_MS);
  afterAll(() => stack.disposeAsync());

  it('a task goes on at the other edge after every process was restarted', async () => {
    const steps = [{ text: WORDS.repeat(20), chunk_chars: 4, delay_ms: 100 }];
    const agent = await fleet.api.createAgent({
      ...{ model: 'rehearsal/script', model_options: { steps }, exposure: { a2a: 'on' } },
    });
    const here = createA2aClient({ url: fleet.api.origin }, agent);
    const other = createA2aClient({ url: there }, agent);
    const sent = sendRequest('Count.');
    let id = '';
    const first = await here.open('SendStreamingMessage', sent);
    const read = async () => {
      for await (const { task } of resultsOf(first)) if (task) id = task.id;
    };
    const end = read().then(
      () => 'regular',
      () => 'cut',
    );
    await until('the task has an answer', async () => {
      return id !== '' && answerOf((await other.rpc('GetTask', { id })).result) !== '';
    });

    // The edge of the stream is stopped, and the stream ends with it.
    expect(await fleet.end('edge', 'SIGTERM')).toBe(0);
    expect(await end).toBe('cut');
    for (const name of [...SERVICES, 'runner', 'edge 2']) {
      await fleet.end(name, 'SIGKILL');
      await fleet.run(name);
    }
    await fleet.run('edge');
    await until('the other edge is ready again', () => isReady(there), START_MS);

    const events = await Array.fromAsync(resultsOf(await other.open('SubscribeToTask', { id })));
    const [{ task }] = events;
    expect(task.id).toBe(id);
    expect(events.at(-1).statusUpdate?.status.state ?? task.status.state).toBe('TASK_STATE_COMPLETED');
    const { result } = await other.rpc('GetTask', { id });
    expect(answerOf(result)).toContain(WORDS.repeat(20).trim());
    await until('the first edge is ready', () => isReady(fleet.api.origin), START_MS);
    // The message that started the task is the same task at the other edge.
    expect((await other.rpc('SendMessage', sent)).result.task).toMatchObject({ id });
    expect((await here.rpc('GetTask', { id })).result).toEqual(result);
  });
});
