import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { type AgentDraft, agentDraftOf, readAgentDraft } from '../../parts/editor/agent-draft.ts';
import { settingsFields } from '../../parts/editor/displayed-fields.ts';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import { FieldList } from '../../parts/editor/field-list.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';
import type { EditorState } from '../../parts/editor/use-editor.ts';

/** Settings of an agent, read-only for users who do not manage it. */
export function SettingsTab({ agent, editing }: { agent: Agent; editing: EditorState<Agent, AgentDraft> }) {
  const { agent_id: agentId } = agent;
  if (agent.access !== 'manage') {
    return (
      <>
        <p className="mb-3 text-muted">You can use this agent. Only its managers can change it.</p>
        <FieldList fields={settingsFields(agent)} />
      </>
    );
  }
  return (
    <EditForm
      noun="agent"
      editing={editing}
      newest={agent}
      draftOf={agentDraftOf}
      read={readAgentDraft}
      shown={settingsFields}
      save={(changes) => agents.update(agentId, editing.base.revision, changes)}
      path={`/agents/${agentId}`}
      revision={editing.base.revision}
      queryKey={agents.detail(agentId).queryKey}
    >
      {(problems) => (
        <RuntimeFields noun="agent" draft={editing.draft} onChange={editing.set} problems={problems} />
      )}
    </EditForm>
  );
}
