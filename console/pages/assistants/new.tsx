import { linkOptions } from '@tanstack/react-router';
import { assistants } from '../../api/assistants.ts';
import { EMPTY, readDraft } from '../../parts/editor/draft.ts';
import { NewPage } from '../../parts/editor/new-page.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';

export function NewAssistantPage() {
  return (
    <NewPage
      noun="assistant"
      empty={EMPTY}
      read={readDraft}
      create={assistants.create}
      path="/assistants"
      pageOf={({ assistant_id: assistantId }) =>
        linkOptions({ to: '/assistants/$assistantId', params: { assistantId } })
      }
    >
      {(form) => <RuntimeFields noun="assistant" {...form} />}
    </NewPage>
  );
}
