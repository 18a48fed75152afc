import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createIds } from '../../../lib/ids.ts';
import { slack as parser } from '../../../services/deployments/channels/products/slack/product.ts';
import {
  openChannelClient,
  postFor,
  productErrorOf,
  recordingReceiver,
} from '../../support/products/slack/channel-client.ts';
import { type SlackOptions, startSlack } from '../../support/products/slack/server.ts';
import { until } from '../../support/wait.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function receive(options: SlackOptions = {}, accept?: () => Promise<void>) {
  const slack = stack.use(await startSlack(options));
  const client = await openChannelClient(slack, { mode: 'socket' });
  const receiver = recordingReceiver(accept);
  const abort = new AbortController();
  const ended = client.connect(receiver, abort.signal);
  ended.catch(() => {});
  stack.defer(async () => {
    abort.abort();
    await ended.catch(() => {});
  });
  await until('the socket is connected', () => receiver.connections === 1);
  const texts = () => receiver.events.flatMap(({ payload }) => payload.event?.text ?? []);
  return { slack, client, receiver, ended, abort, texts, ...slack.workspace };
}

describe('Slack channel: Socket Mode', () => {
  it('commits messages, clicks and commands in the form of the parser, and acknowledges them', async () => {
    const { slack, client, receiver, users, channels, postAs, click, command } = await receive();
    postAs(users.ada, channels.general, 'a < b & c', { mention: true });
    const approval = {
      ...{ approvalId: createIds(systemClock)('apr'), tool: 'deploy', inputJson: '{}' },
      ...{ canAllow: true, decision: '', decidedBy: '', consoleUrl: '' },
    };
    const post = postFor(channels.general, '', { kind: 'approval', approval });
    const ts = await client.createPost(post, new AbortController().signal);
    expect(await click(users.grace, { channel: channels.general, ts }, 'allow')).toMatchObject({
      isAcknowledged: true,
    });
    expect(await command(users.ada, '/agent new')).toMatchObject({ isAcknowledged: true });
    await slack.settled();
    const identity = await client.me(new AbortController().signal);
    const parsed = receiver.events.map((event) => parser.parse(event, identity));
    const events = parsed.flatMap((one) => (one.outcome === 'event' ? [one.event] : []));
    expect(new Set(events.map(({ kind, text, command: name }) => `${kind} ${text}${name}`))).toEqual(
      new Set(['message a < b & c', 'action ', 'command new']),
    );
    expect(slack.deliveries.every(({ outcome }) => outcome === 'accepted')).toBe(true);
    const [answerable] = events.filter(({ kind }) => kind === 'command');
    if (!answerable) throw new Error('no command');
    await client.answer(answerable, '[a](https://a.org) <!here>', new AbortController().signal);
    expect(slack.workspace.ephemerals(channels.general, users.ada)).toMatchObject([
      { text: '<https://a.org|a> &lt;!here&gt;' },
    ]);
  });

  it('ends without an acknowledgement when the commit fails, and Slack sends the event again', async () => {
    let failures = 1;
    const { slack, ended, client, users, channels, postAs } = await receive(
      { timeoutMs: 500, retryDelaysMs: [0, 300, 300] },
      async () => {
        if (failures-- > 0) throw new Error('not committed');
      },
    );
    postAs(users.ada, channels.general, 'hello');
    await expect(ended).rejects.toThrow('not committed');
    const next = recordingReceiver();
    const abort = new AbortController();
    const again = client.connect(next, abort.signal);
    await until('the event comes again', () => next.events.length > 0);
    abort.abort();
    await again;
    expect(slack.deliveries.at(-1)).toMatchObject({ retryNum: expect.any(Number) });
  });

  it('opens the next connection before Slack ends the old one', async () => {
    const { slack, receiver, users, channels, postAs, command, texts } = await receive();
    slack.sockets.disconnect('warning');
    await until('the next socket is open', () => {
      return slack.calls.filter(({ method }) => method === 'apps.connections.open').length === 2;
    });
    expect(await command(users.ada, '/agent status')).toMatchObject({ isAcknowledged: true });
    await until('the old socket is closed', () => slack.sockets.connections === 1);
    postAs(users.ada, channels.general, 'after');
    await until('the event arrives', () => texts().includes('after'));
    expect(receiver.connections).toBe(1);
  });

  it('returns when the connection is lost, and fails when Socket Mode is turned off', async () => {
    const { slack, ended } = await receive();
    slack.sockets.cut();
    await ended;
    const other = await receive();
    other.slack.sockets.disconnect('link_disabled');
    expect(await productErrorOf(other.ended)).toMatchObject({ kind: 'unauthorized' });
  });

  it('ends within a second after an abort, although Slack leaves TCP open', async () => {
    const { slack, ended, abort } = await receive();
    const begin = performance.now();
    abort.abort();
    await ended;
    expect(performance.now() - begin).toBeLessThan(2_000);
    await until('the server has no connection', () => slack.sockets.connections === 0);
  });

  it('connects to no WebSocket outside of Slack', async () => {
    const slack = stack.use(await startSlack());
    const evil = stack.use(await startSlack());
    const server = createServer(async (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ok: true, url: evil.apiUrl.replace('http', 'ws') }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    stack.defer(() => void server.close());
    const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
    const client = await openChannelClient({ ...slack, apiUrl }, { mode: 'socket' });
    const connecting = client.connect(recordingReceiver(), new AbortController().signal);
    expect(await productErrorOf(connecting)).toMatchObject({ message: expect.stringContaining('WebSocket') });
    expect(evil.sockets.connections).toBe(0);
  });

  it('takes duplicates and reordered events under random faults', async () => {
    const faults = { duplicate: 0.4, reorder: 0.4 };
    const { slack, users, channels, postAs, texts } = await receive({ seed: 5, faults });
    const sent = Array.from({ length: 10 }, (_, index) => `m${index}`);
    for (const text of sent) postAs(users.ada, channels.general, text);
    await until('all messages arrive', () => new Set(texts()).size === sent.length, 10_000);
    expect(texts().length).toBeGreaterThan(sent.length);
    expect(slack.lost).toEqual([]);
  });
});

describe('Slack channel: proxy', () => {
  it('sends calls and the WebSocket through the proxy, with its credentials', async () => {
    const slack = stack.use(await startSlack());
    const tunnels: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket, head) => {
      if (request.headers['proxy-authorization'] !== `Basic ${btoa('u:p')}`) {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
        return;
      }
      tunnels.push(request.url);
      const [host = '', port = ''] = (request.url ?? '').split(':');
      const target = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        target.write(head);
        target.pipe(socket).pipe(target);
      });
      target.on('error', () => socket.destroy());
      socket.on('error', () => target.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    stack.defer(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const { port } = proxy.address() as AddressInfo;
    const client = await openChannelClient(slack, {
      mode: 'socket',
      proxy: `http://u:p@127.0.0.1:${port}`,
    });
    const abort = new AbortController();
    const receiver = recordingReceiver();
    const connecting = client.connect(receiver, abort.signal);
    await until('the socket is connected', () => receiver.connections === 1);
    expect(tunnels.length).toBeGreaterThanOrEqual(2);
    expect(new Set(tunnels)).toEqual(new Set([new URL(slack.origin).host]));
    abort.abort();
    await connecting;
    const refused = await openChannelClient(slack, { proxy: `http://127.0.0.1:${port}` });
    expect(await productErrorOf(refused.me(new AbortController().signal))).toMatchObject({
      kind: 'unavailable',
      message: 'The proxy answered with status 407.',
    });
  });
});
