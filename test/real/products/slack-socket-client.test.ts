import { SocketModeClient } from '@slack/socket-mode';
import { afterEach, describe, expect, it } from 'vitest';
import { type SlackOptions, startSlack } from '../../support/products/slack/server.ts';
import { SILENT_LOGGER } from '../../support/products/slack/silent-logger.ts';
import { until } from '../../support/wait.ts';

interface Incoming {
  ack: () => Promise<void>;
  body: { event: { text: string } };
  retry_num: number;
  retry_reason: string;
}

/** The client sends a ping each 100 ms, ends a connection without a pong after 300 ms and then reconnects. */
const CLIENT_PING_MS = 300;

describe('@slack/socket-mode against the server', () => {
  let stack = new AsyncDisposableStack();
  afterEach(async () => {
    await stack.disposeAsync();
    stack = new AsyncDisposableStack();
  });

  async function connect(options: SlackOptions = {}) {
    const slack = stack.use(await startSlack(options));
    const client = new SocketModeClient({
      appToken: slack.appToken,
      clientPingTimeout: CLIENT_PING_MS,
      logger: SILENT_LOGGER,
      clientOptions: { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 } },
    });
    const received: Incoming[] = [];
    client.on('slack_event', (incoming: Incoming) => received.push(incoming));
    await client.start();
    stack.defer(() => client.disconnect());
    return { slack, client, received };
  }

  it('receives an unacknowledged event again, with the number and the reason', async () => {
    const { slack, received } = await connect({ timeoutMs: 100, retryDelaysMs: [0, 50, 50] });
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'hello');
    const retry = await until('the retry arrives', () => received[1]);
    await retry.ack();
    await until('the retry is accepted', () => slack.deliveries.at(-1)?.outcome === 'accepted');
    expect(received.map(({ retry_num, retry_reason }) => [retry_num, retry_reason])).toEqual([
      [0, ''],
      [1, 'timeout'],
    ]);
    expect(slack.lost).toEqual([]);
  });

  it.each(['refresh_requested', 'warning'] as const)('reconnects after %s', async (reason) => {
    const { slack, received } = await connect({ retryDelaysMs: [0, 500, 5_000] });
    slack.sockets.disconnect(reason);
    const opened = () => slack.calls.filter(({ method }) => method === 'apps.connections.open').length;
    await until('the client connects again', () => opened() === 2 && slack.sockets.connections === 1);
    const { users, channels, postAs } = slack.workspace;
    postAs(users.ada, channels.general, 'after');
    await (await until('the event arrives', () => received[0])).ack();
  });

  it('receives an event that came while the connection was lost', async () => {
    const { slack, received } = await connect({ retryDelaysMs: [0, 200, 3_000] });
    const { users, channels, postAs } = slack.workspace;
    slack.sockets.cut();
    await until('the connection is lost', () => slack.sockets.connections === 0);
    postAs(users.ada, channels.general, 'meanwhile');
    const incoming = await until('the event arrives', () => received[0]);
    await incoming.ack();
    expect(incoming.body.event.text).toBe('meanwhile');
    expect(incoming.retry_num).toBeGreaterThan(0);
  });

  it('needs its ping timeout to disconnect, because the TCP connection stays open', async () => {
    const { slack, client } = await connect();
    const { slack: other, client: otherClient } = await connect({ endsTcp: true });
    await otherClient.disconnect();
    const disconnected: string[] = [];
    const first = client.disconnect().then(() => disconnected.push('open'));
    await until('the server has answered the close frame', () => slack.sockets.connections === 0);
    expect(disconnected).toEqual([]);
    await first;
    expect(other.sockets.connections).toBe(0);
  });
});
