import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { agents } from '../../api/agents.ts';
import { EMPTY, readDraft } from '../../parts/editor/draft.ts';
import { NewForm } from '../../parts/editor/new-form.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Page } from '../../ui/page.tsx';

export function NewAgentPage() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Page title="New agent" above={<TextLink to="/agents">Agents</TextLink>}>
      <NewForm
        noun="agent"
        empty={EMPTY}
        read={readDraft}
        create={agents.create}
        path="/agents"
        onMade={({ agent_id: agentId }) => {
          void queries.invalidateQueries({ queryKey: ['agents', 'list'] });
          void navigate({ to: '/agents/$agentId', params: { agentId }, replace: true, ignoreBlocker: true });
        }}
      >
        {(draft, set, problems) => (
          <RuntimeFields noun="agent" draft={draft} onChange={set} problems={problems} />
        )}
      </NewForm>
    </Page>
  );
}
