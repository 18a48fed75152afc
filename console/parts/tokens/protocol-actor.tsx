import { useQuery } from '@tanstack/react-query';
import { tokens } from '../../api/tokens.ts';
import type { Actor } from '../../gen/index.ts';
import { useViewer } from '../users/viewer.ts';

const PROTOCOLS: Partial<Record<Actor['type'], string>> = {
  mcp: 'MCP',
  openai: 'OpenAI API',
  a2a: 'A2A',
};

export const isProtocolActor = ({ type }: Actor) => PROTOCOLS[type] !== undefined;

export interface ProtocolActorProps {
  actor: Actor;
  /** usr_…: the owner of the session, who also owns the token. */
  ownerId: string;
}

/**
 * The protocol by which a client has acted, and the token with which it did: its name for the owner of the token, and the id
 * for other users and of a deleted token. Without a token, only the protocol.
 */
export function ProtocolActor({ actor: { type, id }, ownerId }: ProtocolActorProps) {
  const { user } = useViewer();
  const isToken = id.startsWith('tok_');
  const isOwn = isToken && ownerId === user?.user_id;
  const { data, isLoading } = useQuery({ ...tokens.names(), enabled: isOwn });
  return (
    <>
      {PROTOCOLS[type]}
      {isToken && (
        <>
          {' · '}
          {isLoading ? '…' : <bdi title={id}>{data?.[id] ?? id}</bdi>}
        </>
      )}
    </>
  );
}
