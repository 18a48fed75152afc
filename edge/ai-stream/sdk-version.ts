import type { IncomingMessage } from 'node:http';
import { refuseField } from '../../lib/errors.ts';
import { SDK_VERSION_HEADER, type SdkVersion } from './schemas.ts';
import { Sdk6Renderer } from './sdk-6-renderer.ts';
import type { TurnFold } from './turn-fold.ts';
import { TurnRenderer } from './turn-renderer.ts';

/** The major version of AI SDK that a request selects. Refuses other versions with INVALID_REQUEST. */
export function sdkVersionOf({ headers }: IncomingMessage, query: { ai_sdk?: SdkVersion }): SdkVersion {
  if (query.ai_sdk !== undefined) return query.ai_sdk;
  const version = headers[SDK_VERSION_HEADER] ?? '7';
  if (version === '6' || version === '7') return version;
  throw refuseField(`/${SDK_VERSION_HEADER}`, 'must be 6 or 7');
}

/** `messageSeq` is the seq of the event that queued the turn. */
export function createTurnFold(
  { turnId, messageSeq }: { turnId: string; messageSeq: number },
  version: SdkVersion,
  partsUrl: string,
): TurnFold {
  const renderer = new TurnRenderer(turnId, partsUrl, messageSeq);
  return version === '6' ? new Sdk6Renderer(renderer) : renderer;
}
