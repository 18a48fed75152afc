import { linkOptions } from '@tanstack/react-router';
import { environments } from '../../api/environments.ts';
import { NewPage } from '../../parts/editor/new-page.tsx';
import { AdministratorsOnly } from '../../parts/people/administrators-only.tsx';
import { EMPTY, readDraft } from './draft.ts';
import { EnvironmentFields } from './fields.tsx';

export function NewEnvironmentPage() {
  return (
    <AdministratorsOnly title="New environment">
      <NewPage
        noun="environment"
        empty={EMPTY}
        read={readDraft}
        create={environments.create}
        path="/admin/environments"
        pageOf={({ environment_id: environmentId }) =>
          linkOptions({ to: '/environments/$environmentId', params: { environmentId } })
        }
      >
        {(form) => <EnvironmentFields {...form} />}
      </NewPage>
    </AdministratorsOnly>
  );
}
