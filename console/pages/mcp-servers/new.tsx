import { useQueryClient } from '@tanstack/react-query';
import { linkOptions } from '@tanstack/react-router';
import { useRef } from 'react';
import { mcpServers } from '../../api/mcp-servers.ts';
import { newIdempotencyKey } from '../../parts/actions/idempotency-key.ts';
import { CreatePage } from '../../parts/editor/create-page.tsx';
import { takeSecret } from '../../parts/secrets/secret-field.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { EMPTY_SERVER_DRAFT, readServerDraft } from './draft.ts';
import { IdentityFields, SettingsFields } from './fields.tsx';
import { withClientSecret } from './oauth-draft.ts';
import { probe } from './probe.ts';

/** Creates a server. One that needs no credential is probed immediately, so that its tools can be reviewed. */
export function NewMcpServerPage() {
  const queries = useQueryClient();
  const secret = useRef<HTMLInputElement>(null);
  return (
    <AdministratorsOnly title="New MCP server">
      <CreatePage
        noun="MCP server"
        empty={EMPTY_SERVER_DRAFT}
        read={readServerDraft}
        create={async (body: ReturnType<typeof readServerDraft>['body'], key, onChange) => {
          const text = takeSecret(secret);
          try {
            // A retry can have another secret, and a key belongs to one body.
            const keyOfBody = text === '' ? key : newIdempotencyKey();
            const created = await mcpServers.create(withClientSecret(body, text), keyOfBody);
            if (created.authorization === 'none') void probe(queries, created.mcp_server_id).catch(() => {});
            return created;
          } catch (error) {
            if (text !== '') onChange({ clientSecret: 'taken' });
            throw error;
          }
        }}
        path="/admin/mcp-servers"
        pageOf={({ mcp_server_id: mcpServerId }) =>
          linkOptions({ to: '/mcp-servers/$mcpServerId', params: { mcpServerId } })
        }
      >
        {(form) => (
          <>
            <IdentityFields {...form} />
            <SettingsFields {...form} secret={secret} />
          </>
        )}
      </CreatePage>
    </AdministratorsOnly>
  );
}
