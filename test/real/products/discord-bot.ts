import {
  ActionRowBuilder,
  AttachmentBuilder,
  ButtonBuilder,
  ButtonStyle,
  Client,
  Events,
  GatewayIntentBits,
  type Interaction,
  type Message,
  MessageFlags,
  Partials,
  type RESTOptions,
  SlashCommandBuilder,
} from 'discord.js';
import { type Discord, type DiscordOptions, startDiscord } from '../../support/products/discord/server.ts';
import { until } from '../../support/wait.ts';

const INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.MessageContent,
];
export const ASK = new SlashCommandBuilder()
  .setName('ask')
  .setDescription('Ask the agent')
  .addStringOption((option) => option.setName('prompt').setDescription('The question').setRequired(true));
const BUTTONS = new ActionRowBuilder<ButtonBuilder>().addComponents(
  new ButtonBuilder().setCustomId('apr_1:allow').setLabel('Allow').setStyle(ButtonStyle.Success),
  new ButtonBuilder().setCustomId('apr_1:deny').setLabel('Deny').setStyle(ButtonStyle.Danger),
);

async function answerMessage(message: Message): Promise<void> {
  const bot = message.client.user;
  if (message.author.bot || (message.guild && !message.mentions.has(bot) && !message.channel.isThread()))
    return;
  const text = message.content.replace(`<@${bot.id}>`, '').trim();
  const file = message.attachments.first();
  if (file) {
    const content = await (await fetch(file.url)).text();
    const files = [new AttachmentBuilder(Buffer.from(content.toUpperCase()), { name: 'upper.txt' })];
    await message.reply({ content: 'done', files });
  } else if (text === 'thread') {
    const thread = await message.startThread({ name: 'Answers' });
    await thread.send('in the thread');
  } else {
    const answer = await message.reply({ content: 'working…', allowedMentions: { parse: [] } });
    await answer.edit({ content: `echo: ${text}`, components: text === 'buttons' ? [BUTTONS] : [] });
  }
}

async function answerInteraction(interaction: Interaction): Promise<void> {
  if (interaction.isChatInputCommand()) {
    const prompt = interaction.options.getString('prompt', true);
    if (prompt === 'secret') {
      await interaction.reply({ content: 'only for you', flags: MessageFlags.Ephemeral });
      return;
    }
    await interaction.deferReply();
    await interaction.editReply(`answer to ${prompt}`);
    await interaction.followUp('and more');
  } else if (interaction.isButton()) {
    await interaction.update({
      content: `${interaction.user.username} chose ${interaction.customId}`,
      components: [],
    });
  }
}

/** Logs in a client of discord.js that answers messages, commands and clicks. */
export async function startClient(
  { apiUrl, application }: Discord,
  { intents = INTENTS, rest = {} }: { intents?: GatewayIntentBits[]; rest?: Partial<RESTOptions> } = {},
) {
  const client = new Client({ intents, partials: [Partials.Channel], rest: { api: apiUrl, ...rest } });
  const contents: string[] = [];
  client.on(Events.MessageCreate, (message) => {
    contents.push(message.content);
    void answerMessage(message);
  });
  client.on(Events.InteractionCreate, (interaction) => void answerInteraction(interaction));
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(application.token);
  await ready;
  return { client, contents, [Symbol.asyncDispose]: () => client.destroy() };
}

/** A server with a guild, a channel and a user. */
export async function startWithChannel(options?: DiscordOptions) {
  const discord = await startDiscord({ routeLimit: { requests: 20, seconds: 1 }, ...options });
  const ada = discord.createUser('ada');
  const guild = discord.createGuild('Operations', [ada]);
  const channel = discord.createChannel(guild, 'general');
  const mention = discord.mention(discord.application);
  const post = (content: string, more: Partial<Parameters<Discord['post']>[0]> = {}) =>
    discord.post({ from: ada, channel, content, ...more });
  const contents = (where = channel) => discord.messages(where).map(({ content }) => content);
  const seen = (content: string, where = channel) =>
    until(`"${content}" is in the channel`, () => contents(where).includes(content));
  return {
    ...{ discord, ada, guild, channel, mention, post, contents, seen },
    [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
  };
}
