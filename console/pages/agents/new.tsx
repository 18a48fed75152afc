import { linkOptions } from '@tanstack/react-router';
import { agents } from '../../api/agents.ts';
import { EMPTY_AGENT_DRAFT, readNewAgentDraft } from '../../parts/editor/agent-draft.ts';
import { CreatePage } from '../../parts/editor/create-page.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';

export function NewAgentPage() {
  return (
    <CreatePage
      noun="agent"
      empty={EMPTY_AGENT_DRAFT}
      read={readNewAgentDraft}
      create={agents.create}
      path="/agents"
      pageOf={({ agent_id: agentId }) => linkOptions({ to: '/agents/$agentId', params: { agentId } })}
    >
      {(form) => <RuntimeFields noun="agent" {...form} />}
    </CreatePage>
  );
}
