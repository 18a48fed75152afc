import { linkOptions } from '@tanstack/react-router';
import { agents } from '../../api/agents.ts';
import { EMPTY, readDraft } from '../../parts/editor/draft.ts';
import { NewPage } from '../../parts/editor/new-page.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';

export function NewAgentPage() {
  return (
    <NewPage
      noun="agent"
      empty={EMPTY}
      read={readDraft}
      create={agents.create}
      path="/agents"
      pageOf={({ agent_id: agentId }) => linkOptions({ to: '/agents/$agentId', params: { agentId } })}
    >
      {(form) => <RuntimeFields noun="agent" {...form} />}
    </NewPage>
  );
}
