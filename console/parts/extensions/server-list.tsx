import type { ExtensionMcpServer } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/page.tsx';
import { TextLink } from '../navigation/links.tsx';
import { useViewer } from '../users/viewer.ts';
import { ExtensionRow } from './extension-row.tsx';
import { SERVER_REASONS, STATE_TONES, toolCountOf } from './states.ts';

export interface ServerListProps {
  label: string;
  servers: readonly ExtensionMcpServer[];
  none: string;
  selected?: readonly string[];
  /** Without it the list cannot be changed. */
  onSelect?: (id: string, isSelected: boolean) => void;
}

export function ServerList({ label, servers, none, selected = [], onSelect }: ServerListProps) {
  const { isAdministrator } = useViewer();
  if (servers.length === 0) return <p className="py-4 text-muted">{none}</p>;
  return (
    <Card>
      <ul aria-label={label}>
        {servers.map((server) => {
          const { mcp_server_id: mcpServerId, name, description, state } = server;
          return (
            <ExtensionRow
              key={mcpServerId}
              name={name}
              description={description}
              reason={SERVER_REASONS[state]}
              isSelected={selected.includes(mcpServerId)}
              onSelect={onSelect && ((isSelected) => onSelect(mcpServerId, isSelected))}
              facts={
                <>
                  <span className="text-[13px] text-muted tabular-nums">{toolCountOf(server)}</span>
                  <Badge tone={STATE_TONES[state]}>{state}</Badge>
                  {isAdministrator && state !== 'deleted' && (
                    <TextLink
                      to="/mcp-servers/$mcpServerId"
                      params={{ mcpServerId }}
                      aria-label={`Open ${name}`}
                    >
                      Open
                    </TextLink>
                  )}
                </>
              }
            />
          );
        })}
      </ul>
    </Card>
  );
}
