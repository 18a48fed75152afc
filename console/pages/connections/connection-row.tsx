import { useQueryClient } from '@tanstack/react-query';
import { Unlink } from 'lucide-react';
import type { ReactNode } from 'react';
import { connections } from '../../api/connections.ts';
import type { Connection } from '../../gen/index.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { ConnectButton } from '../../parts/connections/connect-button.tsx';
import { isEnded } from '../../parts/users/ended-connections.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Time } from '../../ui/time.tsx';
import { Consent } from './consent.tsx';
import { STATUS_TEXTS, STATUS_TONES } from './status.ts';

export function ConnectionRow({ connection }: { connection: Connection }) {
  const { mcp_server_id: mcpServerId, host, status, account, scopes, connected_at: at } = connection;
  const { last_used_at: usedAt } = connection;
  const name = connection.name ?? 'Deleted server';
  const queries = useQueryClient();
  return (
    <li className="flex flex-col gap-2 border-b border-line px-4 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 className="min-w-0 font-medium wrap-anywhere">{name}</h3>
        <span className="min-w-0 text-[13px] text-muted wrap-anywhere">{host}</span>
        <Badge tone={STATUS_TONES[status]}>{status}</Badge>
      </div>
      {STATUS_TEXTS[status] && <p className="text-[13px]">{STATUS_TEXTS[status]}</p>}
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-[13px]">
        {account && <Fact name="Account">{account}</Fact>}
        <Fact name="Scopes">{scopes.length === 0 ? 'None' : scopes.join(', ')}</Fact>
        <Fact name="Connected">
          <Time at={at} />
        </Fact>
        <Fact name="Last use">{usedAt ? <Time at={usedAt} /> : 'Never'}</Fact>
      </dl>
      <Consent connection={connection} />
      <div className="flex flex-wrap gap-2">
        {connection.name !== null && status !== 'disabled' && (
          <ConnectButton
            server={{ mcpServerId, name, host }}
            returnTo="/connections"
            text="Connect again"
            about={` to ${name}`}
            small
            look={isEnded(connection) ? 'primary' : 'secondary'}
            onConnected={() => void queries.invalidateQueries({ queryKey: connections.all.queryKey })}
          />
        )}
        <Disconnect connection={connection} name={name} />
      </div>
    </li>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex max-w-full min-w-0 gap-1.5">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  );
}

function Disconnect({ connection: { connection_id: id }, name }: { connection: Connection; name: string }) {
  const queries = useQueryClient();
  return (
    <ActionButton
      button={
        <Button small>
          <Unlink aria-hidden />
          Disconnect
          <span className="sr-only"> from {name}</span>
        </Button>
      }
      title={`Disconnect from ${name}?`}
      action="Disconnect"
      run={() => connections.remove(id)}
      curl={{ method: 'DELETE', path: `/auth/connections/${id}` }}
      done={`Disconnected from ${name}.`}
      onDone={() => queries.invalidateQueries({ queryKey: connections.all.queryKey })}
    >
      <p>
        The authorization is revoked at its issuer and deleted here. Your sessions can no longer use the
        server until you connect again.
      </p>
    </ActionButton>
  );
}
