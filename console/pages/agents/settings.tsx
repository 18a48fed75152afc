import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { type Draft, draftOf, readDraft } from '../../parts/editor/draft.ts';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import type { Editing } from '../../parts/editor/editing.ts';
import { FieldsShown } from '../../parts/editor/fields-shown.tsx';
import { RuntimeFields } from '../../parts/editor/runtime-fields.tsx';
import { editableShown } from '../../parts/editor/runtime-shown.ts';

/** What the agent is. Who does not manage it can read it. */
export function SettingsTab({ agent, editing }: { agent: Agent; editing: Editing<Agent, Draft> }) {
  const { agent_id: agentId } = agent;
  if (agent.access !== 'manage') {
    return (
      <>
        <p className="mb-3 text-muted">You can use this agent. Who manages it can change it.</p>
        <FieldsShown fields={editableShown(agent)} />
      </>
    );
  }
  return (
    <EditForm
      noun="agent"
      editing={editing}
      newest={agent}
      draftOf={draftOf}
      read={readDraft}
      shown={editableShown}
      save={(changes) => agents.update(agentId, editing.base.version, changes)}
      path={`/agents/${agentId}`}
      version={editing.base.version}
      queryKey={agents.one(agentId).queryKey}
    >
      {(problems) => (
        <RuntimeFields noun="agent" draft={editing.draft} onChange={editing.set} problems={problems} />
      )}
    </EditForm>
  );
}
