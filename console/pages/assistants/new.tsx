import { linkOptions } from '@tanstack/react-router';
import { assistants } from '../../api/assistants.ts';
import { EMPTY_AGENT_DRAFT, readNewAgentDraft } from '../../parts/editor/agent-draft.ts';
import { CreatePage } from '../../parts/editor/create-page.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';

export function NewAssistantPage() {
  return (
    <CreatePage
      noun="assistant"
      empty={EMPTY_AGENT_DRAFT}
      read={readNewAgentDraft}
      create={assistants.create}
      path="/assistants"
      pageOf={({ assistant_id: assistantId }) =>
        linkOptions({ to: '/assistants/$assistantId', params: { assistantId } })
      }
    >
      {(form) => <RuntimeFields noun="assistant" {...form} />}
    </CreatePage>
  );
}
