import type { Telegram } from '../../support/products/telegram/server.ts';

export interface BotApiAnswer {
  status: number;
  ok: boolean;
  // The shape depends on the method.
  result?: unknown;
  error_code?: number;
  description?: string;
  parameters?: { retry_after?: number; migrate_to_chat_id?: number };
}

/** Calls a method of the Bot API as the first bot with JSON, or with a form if it has files. */
export async function callMethod(
  { apiUrl, bot }: Pick<Telegram, 'apiUrl' | 'bot'>,
  method: string,
  parameters: Record<string, unknown> = {},
  signal: AbortSignal | null = null,
): Promise<BotApiAnswer> {
  const response = await fetch(`${apiUrl}/bot${bot.token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
    signal,
  });
  return { status: response.status, ...((await response.json()) as Omit<BotApiAnswer, 'status'>) };
}

/** Returns the description of the refusal, or undefined for success. */
export async function refusalOf(...call: Parameters<typeof callMethod>): Promise<string | undefined> {
  return (await callMethod(...call)).description;
}
