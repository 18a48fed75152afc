/** The commands that Telegram's clients offer. services/deployments/channels/products/commands.ts reads them. */
export const COMMANDS = [
  { command: 'new', description: 'Start a new conversation' },
  { command: 'stop', description: 'Stop the answer' },
  { command: 'status', description: 'Show what the agent does' },
  { command: 'link', description: 'Connect your account' },
  { command: 'unlink', description: 'Disconnect your account' },
  { command: 'help', description: 'Show the commands' },
] as const;

export const ALLOWED_UPDATES = ['message', 'edited_message', 'callback_query'] as const;
