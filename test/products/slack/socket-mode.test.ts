import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createFakeClock } from '../../support/clock.ts';
import { callForm, connectSocket, type Envelope } from '../../support/products/slack/client.ts';
import { startSlack } from '../../support/products/slack/server.ts';
import { until } from '../../support/wait.ts';

const MINUTE_MS = 60_000;
const isEvent = ({ type }: Envelope) => type === 'events_api';

describe('Slack: Socket Mode connections', () => {
  it('begins with hello', async () => {
    await using slack = await startSlack();
    await using socket = await connectSocket(slack);
    expect(socket.received[0]).toEqual({
      type: 'hello',
      num_connections: 1,
      connection_info: { app_id: slack.appId },
      debug_info: expect.objectContaining({ approximate_connection_time: expect.any(Number) }),
    });
  });

  it('accepts a URL once', async () => {
    await using slack = await startSlack();
    const { url } = await callForm(slack, 'apps.connections.open', {}, slack.appToken);
    await once(new WebSocket(String(url)), 'open');
    await expect(once(new WebSocket(String(url)), 'open')).rejects.toThrow('408');
  });

  it('names another URL when a test asks for it', async () => {
    await using slack = await startSlack();
    slack.overrides.socketUrl = 'ws://127.0.0.1:1/';
    const opened = await callForm(slack, 'apps.connections.open', {}, slack.appToken);
    expect(opened).toEqual({ ok: true, url: 'ws://127.0.0.1:1/' });
  });

  it('sends each event to one of the connections', async () => {
    await using slack = await startSlack();
    await using first = await connectSocket(slack);
    await using second = await connectSocket(slack);
    const { users, channels, postAs } = slack.workspace;
    for (let index = 0; index < 20; index++) postAs(users.ada, channels.general, `${index}`);
    await slack.settled();
    const counts = [first, second].map(({ received }) => received.filter(isEvent).length);
    expect(counts[0]! + counts[1]!).toBe(20);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });

  it('ends the eleventh connection with too_many_websockets', async () => {
    await using slack = await startSlack();
    for (let count = 0; count < 10; count++) await connectSocket(slack);
    await using eleventh = await connectSocket(slack);
    expect(eleventh.received).toMatchObject([{ type: 'disconnect', reason: 'too_many_websockets' }]);
    expect(slack.sockets.connections).toBe(10);
  });

  it('asks for a new connection with refresh_requested and closes', async () => {
    await using slack = await startSlack({ endsTcp: true });
    await using socket = await connectSocket(slack);
    const closed = once(socket.socket, 'close');
    slack.sockets.disconnect('refresh_requested');
    await closed;
    expect(socket.received.at(-1)).toMatchObject({ type: 'disconnect', reason: 'refresh_requested' });
    expect(slack.sockets.connections).toBe(0);
  });

  it('sends events for ten more seconds after a warning', async () => {
    const clock = createFakeClock();
    await using slack = await startSlack({ clock, endsTcp: true });
    await using socket = await connectSocket(slack);
    const { users, channels, postAs } = slack.workspace;
    slack.sockets.disconnect('warning');
    postAs(users.ada, channels.general, 'still here');
    await until('the event arrives', () => socket.received.some(isEvent));
    const closed = once(socket.socket, 'close');
    clock.advance(10_000);
    await closed;
  });

  it('leaves the TCP connection open after the close handshake', async () => {
    await using slack = await startSlack();
    await using socket = await connectSocket(slack);
    socket.socket.close(1000);
    await until('the server has answered the close frame', () => slack.sockets.connections === 0);
    expect(socket.socket.readyState).toBe(WebSocket.CLOSING);
  });
});

describe('Slack: Socket Mode redeliveries', () => {
  it('repeats an unacknowledged envelope at once, after one and after five minutes', async () => {
    const clock = createFakeClock();
    await using slack = await startSlack({ clock });
    await using socket = await connectSocket(slack, false);
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'hello');
    const envelopes = () => socket.received.filter(isEvent);
    for (const [index, wait] of [0, 0, MINUTE_MS, 5 * MINUTE_MS].entries()) {
      await until('the attempt has failed', () => slack.sockets.unacknowledged === 0 || index === 0);
      clock.advance(wait);
      await until('the envelope arrives', () => envelopes().length === index + 1);
      clock.advance(3_000);
    }
    await until('the event is lost', () => slack.lost.length === 1);
    expect(envelopes().map(({ retry_attempt, retry_reason }) => [retry_attempt, retry_reason])).toEqual([
      [0, ''],
      [1, 'timeout'],
      [2, 'timeout'],
      [3, 'timeout'],
    ]);
    expect(new Set(envelopes().map(({ envelope_id }) => envelope_id)).size).toBe(4);
    expect(new Set(envelopes().map(({ payload }) => payload.event_id)).size).toBe(1);
  });

  it('delivers an event that came without a connection as a retry', async () => {
    await using slack = await startSlack({ retryDelaysMs: [0, 30, 30] });
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'hello');
    await using socket = await connectSocket(slack);
    const envelope = await until('the event arrives', () => socket.received.find(isEvent));
    expect(envelope.retry_attempt).toBeGreaterThan(0);
    expect(slack.lost).toEqual([]);
  });

  it('repeats an event whose connection ended before the acknowledgement', async () => {
    await using slack = await startSlack({ retryDelaysMs: [200] });
    const { users, channels, postAs } = slack.workspace;
    await using first = await connectSocket(slack, false);
    postAs(users.ada, channels.general, 'hello');
    await until('the event arrives', () => first.received.some(isEvent));
    slack.sockets.cut();
    await using second = await connectSocket(slack);
    await until('the event arrives again', () => second.received.some(isEvent));
    await slack.settled();
    expect(slack.deliveries.map(({ outcome }) => outcome)).toEqual(['timeout', 'accepted']);
  });

  it('ignores messages that acknowledge nothing', async () => {
    await using slack = await startSlack();
    await using socket = await connectSocket(slack, false);
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'hello');
    const envelope = await until('the event arrives', () => socket.received.find(isEvent));
    for (const text of ['no JSON', '1', '{"envelope_id":"unknown"}']) socket.socket.send(text);
    expect(slack.sockets.unacknowledged).toBe(1);
    socket.acknowledge(envelope);
    await until('the event is acknowledged', () => slack.sockets.unacknowledged === 0);
  });
});

describe('Slack: interactions over Socket Mode', () => {
  it('sends clicks as interactive and takes a response payload for commands', async () => {
    await using slack = await startSlack();
    await using socket = await connectSocket(slack, false);
    const { users, channels, command, ephemerals } = slack.workspace;
    const result = command(users.ada, '/agent new');
    const envelope = await until('the command arrives', () =>
      socket.received.find(({ type }) => type === 'slash_commands'),
    );
    expect(envelope).toMatchObject({
      accepts_response_payload: true,
      payload: { command: '/agent', text: 'new', user_id: users.ada, channel_id: channels.general },
    });
    expect(envelope).not.toHaveProperty('retry_attempt');
    socket.acknowledge(envelope, { text: 'A new conversation.' });
    expect(await result).toMatchObject({ isAcknowledged: true });
    expect(ephemerals(channels.general, users.ada)).toMatchObject([{ text: 'A new conversation.' }]);
  });

  it('does not repeat a click', async () => {
    await using slack = await startSlack({ timeoutMs: 20, retryDelaysMs: [0, 0, 0] });
    await using socket = await connectSocket(slack, false);
    const { users, channels, click } = slack.workspace;
    const button = { type: 'button', action_id: 'allow', text: { type: 'plain_text', text: 'Allow' } };
    const blocks = [{ type: 'actions', elements: [button] }];
    const { ts } = await callForm(slack, 'chat.postMessage', {
      channel: channels.general,
      text: 'a',
      blocks,
    });
    const message = { channel: channels.general, ts: String(ts) };
    expect(await click(users.ada, message, 'allow')).toEqual({ isAcknowledged: false, response: '' });
    expect(socket.received.filter(({ type }) => type === 'interactive')).toHaveLength(1);
  });
});
