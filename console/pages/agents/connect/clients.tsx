import { useState } from 'react';
import { Code } from '../../../ui/code.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { MCP_CLIENTS, type McpClient, type McpServer } from './snippets.ts';

const TABS = MCP_CLIENTS.map(({ id, name }) => ({ value: id, text: name }));

/** The text that connects each client to the server. */
export function McpClients({ server }: { server: McpServer }) {
  const [chosen, setChosen] = useState<McpClient['id']>('claude-code');
  return (
    <Tabs label="Clients" value={chosen} tabs={TABS} onChange={setChosen}>
      {MCP_CLIENTS.filter(({ id }) => id === chosen).map(({ id, name, about, snippet }) => (
        <div key={id} className="flex flex-col gap-3 pt-3">
          <p>{about}</p>
          <Code text={snippet(server)} label={`Text for ${name}`} wrap />
          {server.isTeam && server.token === undefined && (
            <p className="text-[13px] text-muted">
              Create a token above to fill in its place, or use a token with the scope mcp that you have.
            </p>
          )}
        </div>
      ))}
    </Tabs>
  );
}
