import type { InlineKeyboardButton, InlineKeyboardMarkup } from 'grammy/types';
import { badRequest } from './errors.ts';
import type { Parameters } from './parameters.ts';

const MAX_CALLBACK_DATA_BYTES = 64;
const MAX_BUTTONS = 100;
const ACTIONS = ['url', 'callback_data', 'web_app', 'login_url', 'switch_inline_query', 'copy_text', 'pay'];

/** Returns the inline keyboard of a request, or undefined for none or an empty one. Other kinds of markup are refused. */
export function readInlineKeyboard(parameters: Parameters): InlineKeyboardMarkup | undefined {
  const markup = parameters.object('reply_markup');
  if (markup === undefined || markup === null) return undefined;
  if (typeof markup !== 'object') throw badRequest('object expected as reply markup');
  if (!('inline_keyboard' in markup)) return undefined;
  if (!Array.isArray(markup.inline_keyboard))
    throw badRequest('field "inline_keyboard" of the InlineKeyboardMarkup must be an array of arrays');
  const rows = markup.inline_keyboard.map((row: unknown) => {
    if (!Array.isArray(row))
      throw badRequest('field "inline_keyboard" of the InlineKeyboardMarkup must be an array of arrays');
    return row.map(checkButton);
  });
  const filled = rows.filter((row) => row.length > 0);
  if (filled.flat().length > MAX_BUTTONS) throw badRequest('reply markup is too long');
  return filled.length > 0 ? { inline_keyboard: filled } : undefined;
}

function checkButton(button: InlineKeyboardButton): InlineKeyboardButton {
  const refuse = (problem: string) => badRequest(`can't parse inline keyboard button: ${problem}`);
  if (typeof button !== 'object' || button === null) throw refuse('expected an Object');
  if (typeof button.text !== 'string') throw refuse('Field "text" must be of type String');
  if (!ACTIONS.some((action) => action in button))
    throw refuse('Text buttons are unallowed in the inline keyboard');
  if ('callback_data' in button) {
    const bytes = Buffer.byteLength(button.callback_data);
    if (bytes === 0 || bytes > MAX_CALLBACK_DATA_BYTES) throw badRequest('BUTTON_DATA_INVALID');
  }
  if ('url' in button && !/^(https?|tg):\/\//.test(button.url)) throw badRequest('BUTTON_URL_INVALID');
  return button;
}
