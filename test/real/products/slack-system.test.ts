import { afterEach, describe, expect, it } from 'vitest';
import { slackBotScopes } from '../../../lib/product-permissions.ts';
import { type Api, createApi, dataOfCreated } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { type SlackServer, startSlack } from '../../support/products/slack/server.ts';
import { startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';

const SCOPES = slackBotScopes({ filesIn: true, filesOut: true, trustEmail: false });
/** Reads the file of the message after an approval, and writes one for the chat. */
const STEPS = [
  {
    tool: 'bash',
    input: { command: 'mkdir -p outbox && cat inbox/*/*.txt > outbox/copy.txt && cat outbox/copy.txt' },
  },
  { text: 'The file says {{last_tool_output}}.' },
];

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

/** Creates a channel that is not connected yet. */
async function createChannel(slack: SlackServer, mode: 'http' | 'socket', settings: object = {}) {
  const system = stack.use(await startSystem({ SERVICE_CHANNELS_API_URLS: `slack=${slack.apiUrl}` }));
  const api = createApi(system.url);
  const agent = await api.createAgent({
    model: 'rehearsal/script',
    model_options: { steps: STEPS },
    tools: [{ name: 'bash', permission: 'ask' }],
  });
  const path = `/admin/agents/${agent}/deployments`;
  const { botToken: bot_token, signingSecret: signing_secret, appToken: app_token } = slack;
  const credentials = { bot_token, ...(mode === 'http' ? { signing_secret } : { app_token }) };
  const channel = { type: 'channel', provider: 'slack', name: 'Support', config: { mode, ...settings } };
  const { deployment_id: id } = dataOfCreated(await api.post(path, { ...channel, credentials }));
  const callback = `${system.url}/api/v1/deployments/${id}/callback`;
  const deployment = `${path}/${id}`;
  const whenState = (state: string) =>
    until(`the connection is ${state}`, async () => {
      const { body } = await api.get(deployment);
      return Object(body.data.connection).state === state;
    });
  return { api, deployment, callback, credentials, whenState };
}

async function openChannel(mode: 'http' | 'socket') {
  const slack = stack.use(await startSlack({ scopes: SCOPES, seed: 3 }));
  const { api, deployment, callback, whenState } = await createChannel(slack, mode);
  await whenState('connected');
  if (mode === 'http') expect(await slack.setRequestUrl(callback)).toBe(true);
  return { slack, api, deployment };
}

/** Links the account of a person with the one-time link that the bot offers. */
async function linkAccount(slack: SlackServer, api: Api, user: string): Promise<void> {
  const { channels, postAs, ephemerals } = slack.workspace;
  postAs(user, channels.general, 'hello', { mention: true });
  const offer = await until('a link is offered', () =>
    ephemerals(channels.general, user).find(({ text, markdown = text }) => markdown.includes('/link/')),
  );
  const [, code] = /\/link\/([\w-]+)/.exec(offer.markdown ?? offer.text) ?? [];
  expect((await api.post(`/auth/link-codes/${code}`, {})).status).toBe(201);
}

describe('a Slack channel of the whole system', () => {
  it.each(['socket', 'http'] as const)(
    'answers in the thread with files and a decided approval, mode %s',
    async (mode) => {
      const { slack, api, deployment } = await openChannel(mode);
      const { users, channels, postAs, click, command, thread, ephemerals } = slack.workspace;
      await linkAccount(slack, api, users.ada);

      const files = [{ name: 'note.txt', bytes: 'forty-two', mimetype: 'text/plain' }];
      const { ts } = postAs(users.ada, channels.general, 'read it', { mention: true, files });
      const replies = () => thread(channels.general, ts).slice(1);
      const question = await until('the approval is asked for', () =>
        replies().find(({ blocks }) => JSON.stringify(blocks).includes('"allow"')),
      );
      expect(JSON.stringify(question.blocks)).toContain('cat outbox/copy.txt');
      const clicked = await click(users.grace, question, 'allow');
      expect(clicked.isAcknowledged).toBe(true);
      await until('a stranger is refused', () => ephemerals(channels.general, users.grace).length > 0);
      await click(users.ada, question, 'allow');

      const answer = await until('the answer is posted', () =>
        replies().find(({ markdown = '' }) => markdown.includes('forty-two')),
      );
      expect(answer.markdown).toContain('The file says');
      const shared = await until('the file is shared', () => replies().find((one) => one.files.length > 0));
      expect(shared.files).toMatchObject([{ name: 'copy.txt', bytes: Buffer.from('forty-two') }]);
      const decided = await until('the decision is shown', () =>
        replies().find(({ blocks }) => JSON.stringify(blocks).includes('Allowed by')),
      );
      expect(decided.ts).toBe(question.ts);
      expect(replies().filter(({ markdown = '' }) => markdown.includes('The file says'))).toHaveLength(1);

      expect(await command(users.ada, '/agent status')).toMatchObject({ isAcknowledged: true });
      await until('the command is answered', () =>
        ephemerals(channels.general, users.ada).some(({ text }) => text !== '' && !text.includes('/link/')),
      );
      const deliveries = await api.list<{ kind: string; result: string; reason: string | null }>(
        `${deployment}/deliveries`,
      );
      const results = deliveries.map(({ kind, result }) => `${kind} ${result}`);
      expect(results).toContain('message accepted');
      expect(results).toContain('action accepted');
      expect(results).toContain('action refused');
    },
  );

  it('does not acknowledge an event before it is connected, and makes one turn of its redelivery', async () => {
    const clock = createFakeClock(new Date());
    const slack = stack.use(await startSlack({ scopes: SCOPES, seed: 3, clock }));
    slack.setTokenError('invalid_auth');
    const channel = await createChannel(slack, 'http', { access: { mode: 'anyone' } });
    const { api, deployment, callback, credentials, whenState } = channel;
    await whenState('failed');
    expect(await slack.setRequestUrl(callback)).toBe(true);
    const { users, channels, postAs, command, thread } = slack.workspace;
    const { ts } = postAs(users.ada, channels.general, 'read it', { mention: true });
    const attempts = () => slack.deliveries.filter(({ kind }) => kind === 'events_api');
    const whenAttempted = (retryNum: number) =>
      until(`attempt ${retryNum} has ended`, () => {
        const last = attempts().filter((one) => one.retryNum === retryNum);
        return last.length > 0 && last.every(({ outcome }) => outcome !== 'pending');
      });
    await whenAttempted(0);
    clock.advance(0);
    await whenAttempted(1);
    expect(new Set(attempts().map(({ outcome }) => outcome))).toEqual(new Set(['http_error']));
    expect((await command(users.ada, '/agent status')).isAcknowledged).toBe(false);

    slack.setTokenError(undefined);
    expect((await api.send('PATCH', deployment, { credentials })).status).toBe(200);
    await whenState('connected');
    clock.advance(60_000);
    await whenAttempted(2);
    expect(slack.lost).toEqual([]);
    const question = await until('the approval is asked for', () =>
      thread(channels.general, ts).find(({ blocks }) => JSON.stringify(blocks).includes('"allow"')),
    );
    expect(JSON.stringify(question.blocks)).toContain('cat outbox/copy.txt');
    interface Listed {
      result: string;
      reason: string | null;
      session_id: string | null;
    }
    const deliveries = await api.list<Listed>(`${deployment}/deliveries`);
    // Slack sends two events for a mention.
    const taken = deliveries.filter(({ result }) => ['pending', 'accepted'].includes(result));
    expect(taken).toMatchObject([{ result: 'accepted' }]);
    const refused = deliveries.filter(({ result }) => result === 'refused');
    expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(['not_connected']));
    expect(await api.list(`/sessions/${taken[0]?.session_id}/turns`)).toHaveLength(1);
    expect(await api.list('/sessions')).toHaveLength(1);
  });
});
