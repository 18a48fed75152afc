import { getRouteApi } from '@tanstack/react-router';
import { assistants } from '../../api/assistants.ts';
import type { Assistant } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { draftOf, readDraft } from '../../parts/editor/draft.ts';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import { useEditing } from '../../parts/editor/editing.ts';
import { FieldsShown } from '../../parts/editor/fields-shown.tsx';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';
import { editableShown } from '../../parts/editor/runtime-shown.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { One } from '../../parts/one.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { StartConversation } from '../../parts/sessions/start-conversation.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Copyable } from '../../ui/code.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { DeleteAssistant } from './delete.tsx';
import { ASSISTANT_TABS } from './search.ts';
import { Workspace } from './workspace.tsx';

const route = getRouteApi('/assistants/$assistantId');

const TEXTS = { settings: 'Settings', files: 'Files' };
const TABS = ASSISTANT_TABS.map((value) => ({ value, text: TEXTS[value] }));

export function AssistantPage() {
  const { assistantId } = route.useParams();
  return (
    <One
      key={assistantId}
      options={assistants.one(assistantId)}
      title="Assistant"
      path={`/assistants/${assistantId}`}
    >
      {(assistant) => <AssistantShown assistant={assistant} />}
    </One>
  );
}

function AssistantShown({ assistant }: { assistant: Assistant }) {
  const { assistant_id: assistantId, name, description, enabled } = assistant;
  const { tab = 'settings', path: file } = route.useSearch();
  const navigate = route.useNavigate();
  const { user } = useViewer();
  // Administrators can look at those of others.
  const isMine = assistant.created_by === user?.user_id;
  const editing = useEditing(assistant, draftOf);
  const path = `/assistants/${assistantId}`;
  return (
    <Page
      title={name}
      above={<TextLink to="/assistants">Assistants</TextLink>}
      lead={
        <>
          {description && (
            <p dir="auto" className="wrap-anywhere">
              {description}
            </p>
          )}
          <div className="mt-1 flex flex-wrap items-center gap-2">
            {enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
            <Copyable text={assistantId} label="Copy the id of the assistant" />
          </div>
        </>
      }
      actions={
        <>
          <CopyCurl path={path} />
          <ButtonLink to="/sessions" search={{ assistant: assistantId }}>
            Its sessions
          </ButtonLink>
          {isMine && (
            <>
              <DeleteAssistant assistant={assistant} />
              <StartConversation
                name={name}
                path={`${path}/conversations`}
                run={(message, key) => assistants.converse(assistantId, message, key)}
                disabled={!enabled}
              />
            </>
          )}
        </>
      }
    >
      <Tabs
        label="Parts of the assistant"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => void navigate({ search: chosen === 'settings' ? {} : { tab: chosen } })}
      >
        <div className="pt-4">
          {tab === 'files' ? (
            <Workspace
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
              draftOf={draftOf}
              read={readDraft}
              shown={editableShown}
              save={(changes) => assistants.update(assistantId, changes)}
              path={path}
              queryKey={assistants.one(assistantId).queryKey}
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
              <p className="mb-3 text-muted">Only its owner can change it, or speak to it.</p>
              <FieldsShown fields={editableShown(assistant)} />
            </>
          )}
        </div>
      </Tabs>
      <LeaveGuard isDirty={editing.isDirty} />
    </Page>
  );
}
