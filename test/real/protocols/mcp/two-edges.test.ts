import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../../support/fleet.ts';
import { connectClient, connectEarlierClient, type ToolOutcome } from '../../../support/mcp-clients.ts';
import { freePort } from '../../../support/port.ts';
import { SERVICES } from '../../../support/targets.ts';
import { until } from '../../../support/wait.ts';

const START_MS = 240_000;

/** The members of the result of a turn that tests read. */
interface TurnResult {
  session_id: string;
  turn_id: string;
  status: string;
  text: string;
}

const turnOf = ({ structuredContent }: ToolOutcome) => structuredContent as unknown as TurnResult;

describe('two edges and two instances of each service', () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let here: string;
  let there: string;

  beforeAll(async () => {
    fleet = stack.use(await startFleet());
    // The other edge uses the second instances only. They start one after the other, because each start uses much CPU.
    const addresses: Record<string, string> = {};
    for (const service of SERVICES) {
      const address = `127.0.0.1:${await freePort()}`;
      fleet.add(`${service} 2`, service, { SERVICE_GRPC_LISTEN: address });
      await fleet.run(`${service} 2`);
      await fleet.listening(`${service} 2`);
      addresses[`SERVICE_${service.toUpperCase()}_ADDRESS`] = address;
    }
    const port = String(await freePort());
    const listen = `127.0.0.1:${await freePort()}`;
    fleet.add('edge 2', 'edge', { ...addresses, SERVICE_PORT: port, SERVICE_GRPC_LISTEN: listen });
    await fleet.run('edge 2');
    here = `${fleet.api.origin}/api/v1/mcp`;
    const origin = `http://127.0.0.1:${port}`;
    there = `${origin}/api/v1/mcp`;
    const isReady = async () => (await fetch(`${origin}/readyz`).catch(() => undefined))?.ok ?? false;
    await until('the other edge is ready', isReady, START_MS);
  }, START_MS);
  afterAll(() => stack.disposeAsync());

  it('a conversation begun at one edge is waited for, followed and continued at the other', async () => {
    const steps = [{ text: 'done', chunk_chars: 4, delay_ms: 3_000 }];
    const slow = await fleet.api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    const agentId = await fleet.api.createAgent();
    await using first = await connectClient(here);
    await using second = await connectEarlierClient(there);
    await using third = await connectClient(there);
    const call = { agent_id: slow, message: 'Go', wait_seconds: 0, idempotency_key: 'one-turn' };
    const begun = turnOf(await first.call('create_conversation', call));
    expect(['running', 'completed']).toContain(begun.status);
    const { session_id: session, turn_id: turn } = begun;
    const wait = { session_id: session, turn_id: turn, wait_seconds: 50 };
    const waits = [first, second, third].map((client) => client.call('wait_for_turn', wait));
    const repeated = turnOf(await second.call('create_conversation', { ...call, wait_seconds: 50 }));
    expect(repeated).toMatchObject({ session_id: session, turn_id: turn, status: 'completed', text: 'done' });
    for (const waited of await Promise.all(waits))
      expect(turnOf(waited)).toMatchObject({ turn_id: turn, status: 'completed', text: 'done' });

    const echo = turnOf(
      await second.call('create_conversation', { agent_id: agentId, message: 'One', wait_seconds: 50 }),
    );
    const updated: string[] = [];
    third.sdk.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    const uri = `session:///${echo.session_id}/transcript.md`;
    const subscription = await third.sdk.listen({ resourceSubscriptions: [uri] });
    const next = { session_id: echo.session_id, message: 'Two', wait_seconds: 50 };
    expect(turnOf(await first.call('send_message', next))).toMatchObject({
      status: 'completed',
      text: 'Two',
    });
    await until('the other edge reports the change', () => updated.includes(uri));
    expect((await third.read(uri)).text).toMatch(/One[\s\S]*One[\s\S]*Two[\s\S]*Two/);

    // A stream ends when its edge stops, and the client continues at the other one.
    expect(await fleet.end('edge 2', 'SIGTERM')).toBe(0);
    expect(await subscription.closed).toBe('graceful');
    expect((await first.read(uri)).text).toContain('Two');
  });
});
