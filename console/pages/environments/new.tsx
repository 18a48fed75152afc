import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { environments } from '../../api/environments.ts';
import { NewForm } from '../../parts/editor/new-form.tsx';
import { TextLink } from '../../parts/links.tsx';
import { AdministratorsOnly } from '../../parts/people/administrators-only.tsx';
import { Page } from '../../ui/page.tsx';
import { EMPTY, readDraft } from './draft.ts';
import { EnvironmentFields } from './fields.tsx';

export function NewEnvironmentPage() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <AdministratorsOnly title="New environment">
      <Page title="New environment" above={<TextLink to="/environments">Environments</TextLink>}>
        <NewForm
          noun="environment"
          empty={EMPTY}
          read={readDraft}
          create={environments.create}
          path="/admin/environments"
          onMade={({ environment_id: environmentId }) => {
            void queries.invalidateQueries({ queryKey: ['environments', 'list'] });
            void navigate({
              to: '/environments/$environmentId',
              params: { environmentId },
              replace: true,
              ignoreBlocker: true,
            });
          }}
        >
          {(draft, set, problems) => (
            <EnvironmentFields draft={draft} onChange={set} problems={problems} isNew />
          )}
        </NewForm>
      </Page>
    </AdministratorsOnly>
  );
}
