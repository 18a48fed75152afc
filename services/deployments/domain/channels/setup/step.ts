import type { ChannelConfig, ChannelIdentity } from '../channel.ts';
import type { ConnectionState } from '../connection.ts';

/** One step of the owner at the product. */
export interface SetupStep {
  name: string;
  /** One sentence in plain text. */
  instruction: string;
  /** A page at the product. Empty: none. */
  url: string;
  /** Text to copy, and its media type. Empty: none. */
  content: string;
  contentType: string;
  done: boolean;
}

/** The facts that decide which steps there are and which are done. */
export interface SetupFacts {
  name: string;
  config: ChannelConfig;
  callbackUrl: string;
  /** The names of the credentials that are set. */
  credentialNames: readonly string[];
  /** Discord: empty while it is not set. */
  applicationId: string;
  /** Null before the first connection. */
  identity: ChannelIdentity | null;
  connectionState: ConnectionState;
  /** A message, command or click has arrived. */
  hasDelivery: boolean;
}

type StepDetails = Partial<Pick<SetupStep, 'url' | 'content' | 'contentType'>>;

export function step(name: string, instruction: string, done: boolean, details: StepDetails = {}): SetupStep {
  return { name, instruction, url: '', content: '', contentType: '', done, ...details };
}

export function plainText(content: string): StepDetails {
  return { content, contentType: 'text/plain' };
}

/** The bot for a sentence. */
export function botOf({ identity }: SetupFacts): string {
  return identity?.name ? `@${identity.name}` : 'the bot';
}
