/** One fact about a channel that was compared with its product. */
export interface ChannelCheck {
  /** token, scope, intent, webhook, … */
  name: string;
  ok: boolean;
  /** The problem and its remedy. Empty: none. */
  problem: string;
}
