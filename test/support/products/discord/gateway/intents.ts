import type { GatewayMessageCreateDispatchData } from 'discord.js';

export interface DispatchEvent {
  type: string;
  data: object;
  /** The channel whose events keep their order without faults. */
  channelId?: string;
  /** Bits of which one is needed; 0 for events that every session receives. */
  intents: number;
}

export const GUILDS = 1 << 0;
export const GUILD_MESSAGES = 1 << 9;
export const DIRECT_MESSAGES = 1 << 12;
export const MESSAGE_CONTENT = 1 << 15;
/** The bits that the product knows. */
const KNOWN_INTENTS = ((1 << 17) - 1) | (0b11 << 20) | (0b11 << 24);

export const areKnownIntents = (intents: unknown): intents is number =>
  typeof intents === 'number' &&
  Number.isInteger(intents) &&
  intents >= 0 &&
  (intents & ~KNOWN_INTENTS) === 0;

/**
 * Returns the event as a session with these intents receives it, or undefined if it does not. Without the intent for the
 * content of messages, guild messages that neither mention the bot nor are its own arrive without content.
 */
export function redact(event: DispatchEvent, intents: number, botId: string): DispatchEvent | undefined {
  if (event.intents !== 0 && (event.intents & intents) === 0) return undefined;
  if (!event.type.startsWith('MESSAGE_') || !('content' in event.data) || intents & MESSAGE_CONTENT)
    return event;
  const message = event.data as GatewayMessageCreateDispatchData;
  const isMentioned = message.mentions.some(({ id }) => id === botId);
  if (message.guild_id === undefined || isMentioned || message.author.id === botId) return event;
  return { ...event, data: { ...message, content: '', embeds: [], attachments: [], components: [] } };
}
