import { useEffect, useRef } from 'react';
import { mcpServers } from '../../api/mcp-servers.ts';
import type { McpServer } from '../../gen/index.ts';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import type { EditorState } from '../../parts/editor/use-editor.ts';
import { takeSecret } from '../../parts/secrets/secret-field.tsx';
import { Copyable } from '../../ui/code.tsx';
import { Card } from '../../ui/page.tsx';
import { PropertyList } from '../../ui/property-list.tsx';
import { readSettingsDraft, type SettingsDraft, settingsDraftOf, settingsFields } from './draft.ts';
import { SettingsFields } from './fields.tsx';
import { withClientSecret } from './oauth-draft.ts';

export interface SettingsTabProps {
  server: McpServer;
  editing: EditorState<McpServer, SettingsDraft>;
}

/** The members that never change, and a form for the others. */
export function SettingsTab({ server, editing }: SettingsTabProps) {
  const { mcp_server_id: id, name, url, transport } = server;
  const secret = useRef<HTMLInputElement>(null);
  const { clientSecret } = editing.draft;
  useEffect(() => {
    // Discarded changes include the secret.
    if (clientSecret === 'none') takeSecret(secret);
  }, [clientSecret]);
  return (
    <div className="flex flex-col gap-4">
      <section aria-label="Members that cannot be changed">
        <Card>
          <PropertyList
            facts={[
              { name: 'Name', value: name },
              { name: 'Transport', value: transport },
              { name: 'URL', value: <Copyable text={url} label="Copy URL" />, wide: true },
            ]}
          />
        </Card>
        <p className="mt-1.5 text-[13px] text-muted">
          These members cannot be changed. Create another server instead.
        </p>
      </section>
      <EditForm
        noun="MCP server"
        editing={editing}
        newest={server}
        draftOf={settingsDraftOf}
        read={readSettingsDraft}
        shown={settingsFields}
        save={async (changes) => {
          const text = takeSecret(secret);
          try {
            return await mcpServers.update(id, editing.base.revision, withClientSecret(changes, text));
          } catch (error) {
            if (text !== '') editing.set({ clientSecret: 'taken' });
            throw error;
          }
        }}
        path={`/admin/mcp-servers/${id}`}
        revision={editing.base.revision}
        queryKey={mcpServers.detail(id).queryKey}
      >
        {(problems) => (
          <SettingsFields
            draft={editing.draft}
            onChange={editing.set}
            problems={problems}
            secret={secret}
            hasStoredSecret={server.oauth?.has_client_secret}
          />
        )}
      </EditForm>
    </div>
  );
}
