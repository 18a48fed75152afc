import { getRouteApi } from '@tanstack/react-router';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { useEditor } from '../../parts/editor/use-editor.ts';
import { TextLink } from '../../parts/navigation/links.tsx';
import { ResourceLead } from '../../parts/resources/resource-lead.tsx';
import { ResourcePage } from '../../parts/resources/resource-page.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { DeleteEnvironment, ToggleEnvironment } from './actions.tsx';
import { environmentDraftOf, readEnvironmentDraft } from './draft.ts';
import { EnvironmentState } from './environment-state.tsx';
import { EnvironmentFields } from './fields.tsx';
import { environmentFields } from './labels.ts';
import { EnvironmentVersionsTab } from './versions.tsx';

const route = getRouteApi('/environments/$environmentId');

const TABS = [
  { value: 'settings', text: 'Settings' },
  { value: 'versions', text: 'Versions' },
] as const;

export function EnvironmentPage() {
  const { environmentId } = route.useParams();
  return (
    <AdministratorsOnly title="Environment">
      <ResourcePage
        key={environmentId}
        options={environments.detail(environmentId)}
        title="Environment"
        path={`/admin/environments/${environmentId}`}
      >
        {(environment) => <EnvironmentContent environment={environment} />}
      </ResourcePage>
    </AdministratorsOnly>
  );
}

function EnvironmentContent({ environment }: { environment: Environment }) {
  const { environment_id: environmentId, name, version } = environment;
  const { tab = 'settings' } = route.useSearch();
  const navigate = route.useNavigate();
  const editing = useEditor(environment, environmentDraftOf);
  const path = `/admin/environments/${environmentId}`;
  return (
    <Page
      title={name}
      above={<TextLink to="/environments">Environments</TextLink>}
      lead={
        <ResourceLead noun="environment" id={environmentId}>
          <EnvironmentState environment={environment} />
          <span>Version {version}</span>
        </ResourceLead>
      }
      actions={
        <>
          <CopyCurl path={path} />
          <ToggleEnvironment environment={environment} />
          <DeleteEnvironment environment={environment} />
        </>
      }
    >
      <Tabs
        label="Environment sections"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => void navigate({ search: chosen === 'settings' ? {} : { tab: chosen } })}
      >
        <div className="pt-4">
          {tab === 'versions' ? (
            <EnvironmentVersionsTab environment={environment} />
          ) : (
            <EditForm
              noun="environment"
              editing={editing}
              newest={environment}
              draftOf={environmentDraftOf}
              read={readEnvironmentDraft}
              shown={environmentFields}
              save={(changes) => environments.update(environmentId, editing.base.revision, changes)}
              path={path}
              revision={editing.base.revision}
              queryKey={environments.detail(environmentId).queryKey}
            >
              {(problems) => (
                <EnvironmentFields
                  draft={editing.draft}
                  saved={environmentDraftOf(editing.base)}
                  onChange={editing.set}
                  problems={problems}
                />
              )}
            </EditForm>
          )}
        </div>
      </Tabs>
      <LeaveGuard isDirty={editing.isDirty} />
    </Page>
  );
}
