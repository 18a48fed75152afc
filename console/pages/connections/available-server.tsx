import { useQueryClient } from '@tanstack/react-query';
import { connections } from '../../api/connections.ts';
import type { ConnectableServer } from '../../gen/index.ts';
import { ConnectButton } from '../../parts/connections/connect-button.tsx';
import { toast } from '../../ui/toast.tsx';

export function AvailableServer({ server }: { server: ConnectableServer }) {
  const { mcp_server_id: mcpServerId, name, host, description } = server;
  const queries = useQueryClient();
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-b-0">
      <div className="min-w-0 flex-1 basis-48">
        <h3 className="font-medium wrap-anywhere">{name}</h3>
        <p className="text-[13px] text-muted wrap-anywhere">{host}</p>
        {description && (
          <p dir="auto" className="text-[13px] text-muted wrap-anywhere">
            {description}
          </p>
        )}
      </div>
      <ConnectButton
        server={{ mcpServerId, name, host }}
        returnTo="/connections"
        text="Connect"
        about={` to ${name}`}
        small
        onConnected={() => {
          toast.done(`Connected to ${name}.`);
          void queries.invalidateQueries({ queryKey: connections.all.queryKey });
        }}
      />
    </li>
  );
}
