import { useQuery } from '@tanstack/react-query';
import { tokens } from '../../api/tokens.ts';
import type { Actor } from '../../gen/index.ts';
import { useViewer } from '../users/viewer.ts';

export const PROTOCOL_NAMES = { mcp: 'MCP', openai: 'OpenAI API', a2a: 'A2A' } as const;
const PROTOCOLS: Partial<Record<Actor['type'], string>> = PROTOCOL_NAMES;

export const isProtocolActor = ({ type }: Actor) => PROTOCOLS[type] !== undefined;

interface ClientTokenProps {
  /** tok_… */
  id: string;
  /** usr_…: the owner of the session, who also owns the token. */
  ownerId: string;
}

/** A token behind a dot: its name for its owner, and its id for other users and of a deleted token. */
export function ClientToken({ id, ownerId }: ClientTokenProps) {
  const { user } = useViewer();
  const { data, isLoading } = useQuery({ ...tokens.names(), enabled: ownerId === user?.user_id });
  return (
    <>
      {' · '}
      {isLoading ? '…' : <bdi title={id}>{data?.[id] ?? id}</bdi>}
    </>
  );
}

interface ProtocolActorProps {
  actor: Actor;
  ownerId: string;
}

/** The protocol by which a client has acted, and the token with which it did. Without a token, only the protocol. */
export function ProtocolActor({ actor: { type, id }, ownerId }: ProtocolActorProps) {
  return (
    <>
      {PROTOCOLS[type]}
      {id.startsWith('tok_') && <ClientToken id={id} ownerId={ownerId} />}
    </>
  );
}
