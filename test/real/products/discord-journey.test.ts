import { describe, expect, it } from 'vitest';
import { createApi, dataOfCreated } from '../../support/api.ts';
import { startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { startWithChannel } from './discord-bot.ts';

const STEPS = [
  { tool: 'calculator', input: { expression: '6*7' } },
  { tool: 'write_file', input: { path: 'outbox/result.txt', content: 'forty-two' } },
  { text: 'The **answer** is {{input}} and more than one edit long.', chunk_chars: 8, delay_ms: 300 },
];
const LINK = /\/link\/([\w-]+)/;

interface Channel {
  connection: { mode: string; state: string; last_error: string | null };
}

describe('a channel with the provider discord', () => {
  it('links an account, takes a file, asks for an approval, edits its answer in place and sends a file', async () => {
    await using product = await startWithChannel({ seed: 22, faults: { duplicate: 0.2 } });
    const { discord, ada, channel, mention } = product;
    await using system = await startSystem({ SERVICE_CHANNELS_API_URLS: `discord=${discord.apiUrl}` });
    const api = createApi(system.url);
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: STEPS },
      tools: [{ name: 'calculator', permission: 'ask' }, { name: 'write_file' }],
    });
    const { token: bot_token, id: application_id } = discord.application;
    const deployments = `/admin/agents/${agent}/deployments`;
    const created = dataOfCreated(
      await api.post(deployments, {
        ...{ type: 'channel', provider: 'discord', name: 'Chat', config: { mode: 'gateway' } },
        credentials: { bot_token, application_id },
      }),
    );
    const path = `${deployments}/${created.deployment_id}`;
    const connection = await until('the channel is connected', async () => {
      const { connection } = (await api.get(path)).body.data as unknown as Channel;
      return connection.state === 'connected' && connection;
    });
    expect(connection).toMatchObject({ mode: 'gateway', last_error: null });

    product.post(`${mention} Hello`);
    const direct = discord.directChannel(ada);
    const offer = await until('a link is offered', () =>
      discord.messages(direct).find(({ content }) => LINK.test(content)),
    );
    const [, code] = LINK.exec(offer.content) ?? [];
    expect((await api.post(`/auth/link-codes/${code}`)).status).toBe(201);

    const bytes = Buffer.from('6, 7');
    const files = [{ name: 'figures.txt', type: 'text/plain', bytes }];
    const root = product.post(`${mention} Multiply`, { files });
    const thread = await until('the thread is created', () => {
      const isCreated = discord.messages(channel).find(({ id }) => id === root.id)?.thread;
      return isCreated && discord.threadOf(root);
    });
    const answers = () => discord.messages(thread).filter(({ author }) => author.bot);
    const answered = (what: string, text: RegExp) =>
      until(what, () => answers().find(({ content }) => text.test(content)));
    const question = await answered('the approval is asked for', /asks to run/);
    const click = discord.click(ada, thread, question, 'Allow');
    const shown = await answered('the answer begins', /The \*\*answer\*\* is/);
    const whole = await answered('the answer is whole', /more than one edit long\.$/);
    expect(whole.id).toBe(shown.id);
    expect(click.state).toBe('answered');
    const decided = await answered('the decision is shown', /Allowed/);
    expect(decided).toMatchObject({ id: question.id, components: [] });
    const sent = await until('the file is sent', () =>
      answers().find(({ attachments }) => attachments.length),
    );
    expect(await (await fetch(sent.attachments[0]?.url ?? '')).text()).toBe('forty-two');
    expect(answers().filter(({ content }) => /\*\*answer\*\*/.test(content))).toHaveLength(1);
    expect(discord.messages(channel).some(({ content }) => LINK.test(content))).toBe(false);

    const inbox = await api.list<{ kind: string; result: string; session_id: string }>(`${path}/deliveries`);
    const accepted = inbox.filter(({ result }) => result === 'accepted');
    expect(accepted.map(({ kind }) => kind)).toEqual(['action', 'message']);
    const session = accepted.at(-1)?.session_id;
    const stored = await api.list<{ path: string }>(`/sessions/${session}/files?recursive=true`);
    expect(stored.map((file) => file.path)).toContainEqual(
      expect.stringMatching(/^inbox\/.+\/figures\.txt$/),
    );
  });
});
