import type { createChannelClient } from '../../support/channel-client.ts';
import { until } from '../../support/wait.ts';
import type { Products } from './products.ts';

const ANSWER = /The answer to/;
const bytes = Buffer.from('6, 7');
/** Faults of products delay the answers by several seconds each. */
const LIMIT_MS = 150_000;

/** Sends a message with a file to a bot, and waits for its answer and the file that it sends. */
export function createTalks({ slack, telegram, discord }: Omit<Products, 'apiUrls'>) {
  const shows = (what: string, isShown: () => boolean) => until(what, isShown, LIMIT_MS);
  return {
    async slack(mode: string): Promise<void> {
      const { users, channels, postAs, thread } = slack.workspace;
      const files = [{ name: 'figures.txt', bytes, mimetype: 'text/plain' }];
      const text = `read this in ${mode}`;
      const { ts } = postAs(users.ada, channels.general, text, { mention: true, files });
      const answers = () => thread(channels.general, ts).filter(({ isBot }) => isBot);
      await shows('Slack shows the answer', () =>
        answers().some(({ markdown = '' }) => ANSWER.test(markdown)),
      );
      await shows('Slack shows the file', () => answers().some((one) => one.files.length > 0));
    },

    async telegram(mode: string): Promise<void> {
      const ada = telegram.createUser({ firstName: 'Ada' });
      const chat = telegram.privateChat(ada);
      const file = { name: 'figures.txt', type: 'text/plain', bytes };
      telegram.post({ from: ada, chat, text: `read this in ${mode}`, file });
      const answers = () => telegram.messages(chat).filter(({ from }) => from?.is_bot);
      await shows('Telegram shows the answer', () => answers().some(({ text = '' }) => ANSWER.test(text)));
      await shows('Telegram shows the file', () => answers().some(({ document }) => document));
    },

    async discord(mode: string): Promise<void> {
      const ada = discord.createUser('ada');
      const channel = discord.directChannel(ada);
      const files = [{ name: 'figures.txt', type: 'text/plain', bytes }];
      discord.post({ from: ada, channel, content: `read this in ${mode}`, files });
      const answers = () => discord.messages(channel).filter(({ author }) => author.bot);
      await shows('Discord shows the answer', () => answers().some(({ content }) => ANSWER.test(content)));
      await shows('Discord shows the file', () =>
        answers().some(({ attachments }) => attachments.length > 0),
      );
    },

    async http(client: ReturnType<typeof createChannelClient>): Promise<void> {
      await client.sendMessage('room', 'm1', 'read this in http');
      await until(
        'the answer is posted',
        async () => (await client.pull()).posts.some(({ text, final }) => final && ANSWER.test(text)),
        LIMIT_MS,
      );
    },
  };
}
