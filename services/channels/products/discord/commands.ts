const CHAT_INPUT = 1;
const STRING = 3;

function command(name: string, description: string, options: object[] = []) {
  return { type: CHAT_INPUT, name, description, options };
}

/** The application's commands. services/deployments/channels/products/discord/interaction.ts reads them. */
export const COMMANDS = [
  command('ask', 'Ask the agent', [
    { type: STRING, name: 'prompt', description: 'The question or task', required: true },
  ]),
  command('new', 'Start a new conversation'),
  command('stop', 'Stop the answer'),
  command('status', 'Show what the agent does'),
  command('link', 'Connect your account'),
  command('unlink', 'Disconnect your account'),
  command('help', 'Show the commands'),
];
