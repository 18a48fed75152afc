import { linkOptions } from '@tanstack/react-router';
import { environments } from '../../api/environments.ts';
import { CreatePage } from '../../parts/editor/create-page.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { EMPTY_ENVIRONMENT_DRAFT, readEnvironmentDraft } from './draft.ts';
import { EnvironmentFields } from './fields.tsx';

export function NewEnvironmentPage() {
  return (
    <AdministratorsOnly title="New environment">
      <CreatePage
        noun="environment"
        empty={EMPTY_ENVIRONMENT_DRAFT}
        read={readEnvironmentDraft}
        create={environments.create}
        path="/admin/environments"
        pageOf={({ environment_id: environmentId }) =>
          linkOptions({ to: '/environments/$environmentId', params: { environmentId } })
        }
      >
        {(form) => <EnvironmentFields {...form} />}
      </CreatePage>
    </AdministratorsOnly>
  );
}
