import { escapeHtml } from './markup/escape.ts';

/** The longest text of an answer to a click, in characters (https://core.telegram.org/bots/api#answercallbackquery). */
const MAX_ANSWER = 200;

export const SENT_PRIVATELY = 'The bot has sent you a message.';

/** Whether a text is too long for the answer to a click, or has an address, which cannot be opened there. */
export function needsMessage(text: string): boolean {
  return text.length > MAX_ANSWER || text.includes('://');
}

/** What a person must do before the bot may write to them. Plain text. */
export function startInstruction(botName: string): string {
  const bot = botName === '' ? 'this bot' : `@${botName}`;
  return `I may not write to you yet. Open a chat with ${bot}, press Start, and try again.`;
}

/**
 * Replaces a notice that cannot be sent to its person, in the group and as HTML. It names the person and has nothing of the
 * notice, which can contain a one-time link.
 */
export function groupNotice(personId: string, botName: string): string {
  const person = `<a href="tg://user?id=${escapeHtml(encodeURIComponent(personId))}">For you</a>`;
  return `${person}: ${escapeHtml(startInstruction(botName))}`;
}
