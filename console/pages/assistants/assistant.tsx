import { getRouteApi } from '@tanstack/react-router';
import { assistants } from '../../api/assistants.ts';
import type { Assistant } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { agentDraftOf, readAgentDraft } from '../../parts/editor/agent-draft.ts';
import { settingsFields } from '../../parts/editor/displayed-fields.ts';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import { FieldList } from '../../parts/editor/field-list.tsx';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';
import { useEditor } from '../../parts/editor/use-editor.ts';
import { ExtensionsTab } from '../../parts/extensions/extensions-tab.tsx';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { ResourceLead } from '../../parts/resources/resource-lead.tsx';
import { ResourcePage } from '../../parts/resources/resource-page.tsx';
import { StartConversation } from '../../parts/sessions/start-conversation.tsx';
import { useViewer } from '../../parts/users/viewer.ts';
import { VaultsTab } from '../../parts/vaults/vaults-tab.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { DeleteAssistant } from './delete.tsx';
import { ASSISTANT_TABS } from './search.ts';
import { WorkspaceFiles } from './workspace.tsx';

const route = getRouteApi('/assistants/$assistantId');

const TEXTS = { settings: 'Settings', files: 'Files', extensions: 'Extensions', vaults: 'Vaults' };
const TABS = ASSISTANT_TABS.map((value) => ({ value, text: TEXTS[value] }));

export function AssistantPage() {
  const { assistantId } = route.useParams();
  return (
    <ResourcePage
      key={assistantId}
      options={assistants.detail(assistantId)}
      title="Assistant"
      path={`/assistants/${assistantId}`}
    >
      {(assistant) => <AssistantContent assistant={assistant} />}
    </ResourcePage>
  );
}

function AssistantContent({ assistant }: { assistant: Assistant }) {
  const { assistant_id: assistantId, name, description, enabled } = assistant;
  const { tab: requested, path: file } = route.useSearch();
  const navigate = route.useNavigate();
  const { user, isAdministrator } = useViewer();
  const tabs = TABS.filter(({ value }) => isAdministrator || value !== 'vaults');
  const tab = tabs.find(({ value }) => value === requested)?.value ?? 'settings';
  // Administrators can view the assistants of other users.
  const isMine = assistant.created_by === user?.user_id;
  const editing = useEditor(assistant, agentDraftOf);
  const path = `/assistants/${assistantId}`;
  return (
    <Page
      title={name}
      above={<TextLink to="/assistants">Assistants</TextLink>}
      lead={
        <ResourceLead noun="assistant" id={assistantId} description={description}>
          {enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
        </ResourceLead>
      }
      actions={
        <>
          <CopyCurl path={path} />
          <ButtonLink to="/sessions" search={{ assistant: assistantId }}>
            Sessions
          </ButtonLink>
          {isMine && (
            <>
              <DeleteAssistant assistant={assistant} />
              <StartConversation
                name={name}
                path={`${path}/conversations`}
                run={(message, key) => assistants.startConversation(assistantId, message, key)}
                disabled={!enabled}
              />
            </>
          )}
        </>
      }
    >
      <Tabs
        label="Assistant sections"
        value={tab}
        tabs={tabs}
        onChange={(chosen) => void navigate({ search: chosen === 'settings' ? {} : { tab: chosen } })}
      >
        <div className="pt-4">
          {tab === 'extensions' ? (
            <ExtensionsTab target={{ assistantId }} isReadOnly={!isMine} />
          ) : tab === 'vaults' ? (
            <VaultsTab target={{ assistantId }} path={`/admin/assistants/${assistantId}/vaults`} />
          ) : tab === 'files' ? (
            <WorkspaceFiles
              assistantId={assistantId}
              readOnly={!isMine}
              path={file}
              onPath={(chosen) => void navigate({ search: { tab, path: chosen } })}
            />
          ) : isMine ? (
            <EditForm
              noun="assistant"
              editing={editing}
              newest={assistant}
              draftOf={agentDraftOf}
              read={readAgentDraft}
              shown={settingsFields}
              save={(changes) => assistants.update(assistantId, editing.base.revision, changes)}
              path={path}
              revision={editing.base.revision}
              queryKey={assistants.detail(assistantId).queryKey}
            >
              {(problems) => (
                <RuntimeFields
                  noun="assistant"
                  draft={editing.draft}
                  onChange={editing.set}
                  problems={problems}
                />
              )}
            </EditForm>
          ) : (
            <>
              <p className="mb-3 text-muted">
                Only the owner can change this assistant or start conversations with it.
              </p>
              <FieldList fields={settingsFields(assistant)} />
            </>
          )}
        </div>
      </Tabs>
      <LeaveGuard isDirty={editing.isDirty} />
    </Page>
  );
}
