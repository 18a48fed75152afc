import type { PostApproval } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import { isUsable } from './markup/links.ts';

type Button = { text: string; callback_data: string } | { text: string; url: string };
interface Keyboard {
  inline_keyboard: Button[][];
}

/**
 * The buttons of an approval, whose data is read by services/deployments/channels/products/decisions.ts. An empty keyboard
 * removes the buttons. Telegram refuses the address of a console without a public name; the text has the link as well.
 */
export function keyboardOf({ approvalId, canAllow, consoleUrl, decision }: PostApproval): Keyboard {
  if (decision !== '') return { inline_keyboard: [] };
  const deny = { text: 'Deny', callback_data: `deny:${approvalId}` };
  if (canAllow) return { inline_keyboard: [[{ text: 'Allow', callback_data: `allow:${approvalId}` }, deny]] };
  const open = isUsable(consoleUrl) ? [{ text: 'Open the console', url: consoleUrl }] : [];
  return { inline_keyboard: [[...open, deny]] };
}
