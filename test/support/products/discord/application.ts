import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { APIApplicationCommand, APIUser } from 'discord.js';
import type { GatewaySession } from './gateway/session.ts';

/** Intents that an application must enable in the developer portal. */
export const PRIVILEGED_INTENTS = { members: 1 << 1, presences: 1 << 8, messageContent: 1 << 15 };

/** An application with its bot, as its server knows it. */
export interface DiscordApplication {
  id: string;
  bot: APIUser;
  token: string;
  /** The public key in hexadecimal digits, as the developer portal shows it. */
  publicKey: string;
  privateKey: KeyObject;
  /** With a URL, interactions arrive there and not at the gateway. */
  interactionsEndpointUrl: string | null;
  /** The bits of `PRIVILEGED_INTENTS` that are enabled. Default: the content of messages. */
  privilegedIntents: number;
  /** Commands by guild id, or by `global`. */
  commands: Map<string, APIApplicationCommand[]>;
  sessions: GatewaySession[];
  /** How often the bot may identify until the limit resets. */
  remainingIdentifies: number;
}

/** Bytes of an Ed25519 private key before its seed, in PKCS #8. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Returns keys that are reproducible from the text. */
export function keysFrom(text: string): { publicKey: string; privateKey: KeyObject } {
  const seed = createHash('sha256').update(text).digest();
  const key = Buffer.concat([PKCS8_PREFIX, seed]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { publicKey: Buffer.from(x, 'base64url').toString('hex'), privateKey };
}

/** Signs the timestamp and the body of a request to the interactions endpoint. */
export function signatureHeaders(
  privateKey: KeyObject,
  seconds: number,
  body: string,
): Record<string, string> {
  const signature = sign(null, Buffer.from(`${seconds}${body}`), privateKey).toString('hex');
  return {
    'content-type': 'application/json',
    'user-agent': 'Discord-Interactions/1.0 (+https://discord.com)',
    'x-signature-ed25519': signature,
    'x-signature-timestamp': String(seconds),
  };
}
