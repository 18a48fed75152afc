import type { Session } from '../../gen/index.ts';
import { ClientToken, PROTOCOL_NAMES } from '../tokens/protocol-actor.tsx';

const NAMES: Record<NonNullable<Session['source']>, string> = {
  conversation: 'Conversation',
  webhook: 'Webhook',
  schedule: 'Schedule',
  channel: 'Channel',
  fork: 'Fork',
  ...PROTOCOL_NAMES,
};

/** How a session was created, with the token of its client if it has one. Nothing for sessions of earlier releases. */
export function SessionSource({ session: { source, token_id: tokenId, created_by } }: { session: Session }) {
  if (source === null) return null;
  return (
    <>
      {NAMES[source]}
      {tokenId !== null && <ClientToken id={tokenId} ownerId={created_by} />}
    </>
  );
}
