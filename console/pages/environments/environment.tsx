import { getRouteApi } from '@tanstack/react-router';
import { environments } from '../../api/environments.ts';
import type { Environment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import { useEditing } from '../../parts/editor/editing.ts';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { TextLink } from '../../parts/links.tsx';
import { One } from '../../parts/one.tsx';
import { AdministratorsOnly } from '../../parts/people/administrators-only.tsx';
import { Copyable } from '../../ui/code.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { DeleteEnvironment, ToggleEnvironment } from './actions.tsx';
import { draftOf, readDraft } from './draft.ts';
import { EnvironmentFields } from './fields.tsx';
import { EnvironmentState } from './state.tsx';
import { VersionsTab } from './versions.tsx';
import { environmentShown } from './words.ts';

const route = getRouteApi('/environments/$environmentId');

const TABS = [
  { value: 'settings', text: 'Settings' },
  { value: 'versions', text: 'Versions' },
] as const;

export function EnvironmentPage() {
  const { environmentId } = route.useParams();
  return (
    <AdministratorsOnly title="Environment">
      <One
        key={environmentId}
        options={environments.one(environmentId)}
        title="Environment"
        path={`/admin/environments/${environmentId}`}
      >
        {(environment) => <EnvironmentShown environment={environment} />}
      </One>
    </AdministratorsOnly>
  );
}

function EnvironmentShown({ environment }: { environment: Environment }) {
  const { environment_id: environmentId, name, version } = environment;
  const { tab = 'settings' } = route.useSearch();
  const navigate = route.useNavigate();
  const editing = useEditing(environment, draftOf);
  const path = `/admin/environments/${environmentId}`;
  return (
    <Page
      title={name}
      above={<TextLink to="/environments">Environments</TextLink>}
      lead={
        <div className="mt-1 flex flex-wrap items-center gap-2">
          <EnvironmentState environment={environment} />
          <span>Version {version}</span>
          <Copyable text={environmentId} label="Copy the id of the environment" />
        </div>
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
        label="Parts of the environment"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => void navigate({ search: chosen === 'settings' ? {} : { tab: chosen } })}
      >
        <div className="pt-4">
          {tab === 'versions' ? (
            <VersionsTab environment={environment} />
          ) : (
            <EditForm
              noun="environment"
              editing={editing}
              newest={environment}
              draftOf={draftOf}
              read={readDraft}
              shown={environmentShown}
              save={(changes) => environments.update(environmentId, editing.base.version, changes)}
              path={path}
              version={editing.base.version}
              queryKey={environments.one(environmentId).queryKey}
            >
              {(problems) => (
                <EnvironmentFields
                  draft={editing.draft}
                  kept={draftOf(editing.base)}
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
