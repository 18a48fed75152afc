import type { GatewayEvent } from './gateway.ts';

const USED: readonly string[] = [
  'MESSAGE_CREATE',
  'MESSAGE_UPDATE',
  'MESSAGE_DELETE',
  'MESSAGE_DELETE_BULK',
  'INTERACTION_CREATE',
];

/** An interaction that the client must acknowledge within three seconds. */
export interface Interaction {
  id: string;
  token: string;
  type: number;
}

/** Whether the inbox lists the event. It does not list the edits of the bot's own answers, of which there are many. */
export function isUsedEvent({ t, d }: Pick<GatewayEvent, 't' | 'd'>, botId: string): boolean {
  if (!USED.includes(t)) return false;
  const { author }: { author?: { id?: unknown } } = Object(d);
  return t !== 'MESSAGE_UPDATE' || author?.id !== botId;
}

export function interactionIn({ t, d }: Pick<GatewayEvent, 't' | 'd'>): Interaction | undefined {
  if (t !== 'INTERACTION_CREATE') return undefined;
  const { id, token, type }: Partial<Record<keyof Interaction, unknown>> = Object(d);
  const isValid = typeof id === 'string' && typeof token === 'string' && typeof type === 'number';
  return isValid ? { id, token, type } : undefined;
}
