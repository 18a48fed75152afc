import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { assistants } from '../../api/assistants.ts';
import { EMPTY, readDraft } from '../../parts/editor/draft.ts';
import { NewForm } from '../../parts/editor/new-form.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Page } from '../../ui/page.tsx';

export function NewAssistantPage() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Page title="New assistant" above={<TextLink to="/assistants">Assistants</TextLink>}>
      <NewForm
        noun="assistant"
        empty={EMPTY}
        read={readDraft}
        create={assistants.create}
        path="/assistants"
        onMade={({ assistant_id: assistantId }) => {
          void queries.invalidateQueries({ queryKey: ['assistants', 'list'] });
          void navigate({
            to: '/assistants/$assistantId',
            params: { assistantId },
            replace: true,
            ignoreBlocker: true,
          });
        }}
      >
        {(draft, set, problems) => (
          <RuntimeFields noun="assistant" draft={draft} onChange={set} problems={problems} />
        )}
      </NewForm>
    </Page>
  );
}
