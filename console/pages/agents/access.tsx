import { useQuery } from '@tanstack/react-query';
import { agents } from '../../api/agents.ts';
import type { Agent, AgentAccess } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import type { ShownField } from '../../parts/diff/fields.ts';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import { useEditing } from '../../parts/editor/editing.ts';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { problemAt } from '../../parts/editor/problems.ts';
import { Failure } from '../../parts/faults/failure.tsx';
import { useFailure } from '../../parts/faults/use-failure.ts';
import { useViewer } from '../../parts/people/viewer.ts';
import { Radios } from '../../ui/radios.tsx';
import { Section } from '../../ui/section.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EntriesField } from './entries-field.tsx';
import { VISIBILITIES } from './visibility.ts';

const CHOICES = (['private', 'allowlist', 'public'] as const).map((value) => ({
  value,
  ...VISIBILITIES[value],
}));

/** Who may begin conversations with the agent, and who may change it. */
export function AccessTab({ agent: { agent_id: agentId } }: { agent: Agent }) {
  const query = useQuery(agents.access(agentId));
  const failure = useFailure(query);
  const curlOf = useCurl();
  if (query.data) return <AccessForm agentId={agentId} access={query.data} />;
  if (!failure) return <Skeleton lines={6} />;
  return <Failure {...failure} curl={curlOf({ path: `/agents/${agentId}/access` })} />;
}

function AccessForm({ agentId, access }: { agentId: string; access: AgentAccess }) {
  const { isTeam } = useViewer();
  const editing = useEditing(access, draftOf);
  return (
    <>
      <EditForm
        noun="agent"
        label="Access to the agent"
        editing={editing}
        newest={access}
        draftOf={draftOf}
        read={(draft) => ({ body: draft, problems: {} })}
        shown={accessShown}
        save={(_, whole) => agents.share(agentId, editing.base.version, whole)}
        isWhole
        path={`/agents/${agentId}/access`}
        version={editing.base.version}
        queryKey={agents.access(agentId).queryKey}
      >
        {(problems) => (
          <>
            {!isTeam && (
              <p className="mb-2 text-muted">
                Nobody logs in here, so this holds once the service runs with logins.
              </p>
            )}
            <Section
              title="Conversations"
              lead="It holds from the moment it is saved. Whoever is talking goes on."
            >
              <Radios
                label="Who begins conversations"
                value={editing.draft.visibility}
                options={CHOICES}
                onChange={(visibility) => editing.set({ visibility })}
              />
              {editing.draft.visibility === 'allowlist' && (
                <>
                  <EntriesField
                    label="Users"
                    noun="user"
                    people
                    value={editing.draft.users}
                    onChange={(users) => editing.set({ users })}
                    error={problemAt(problems, '/users')}
                  />
                  <EntriesField
                    label="Groups"
                    noun="group"
                    value={editing.draft.groups}
                    onChange={(groups) => editing.set({ groups })}
                    error={problemAt(problems, '/groups')}
                  />
                </>
              )}
            </Section>
            <Section
              title="Managers"
              lead="They change the agent, share it, give it triggers and read its sessions. So does whoever has created it."
            >
              <EntriesField
                label="Managers"
                noun="manager"
                people
                value={editing.draft.managers}
                onChange={(managers) => editing.set({ managers })}
                error={problemAt(problems, '/managers')}
              />
            </Section>
          </>
        )}
      </EditForm>
      <LeaveGuard isDirty={editing.isDirty} tabs />
    </>
  );
}

type Draft = Omit<AgentAccess, 'version'>;

const draftOf = ({ visibility, managers, users, groups }: AgentAccess): Draft => ({
  visibility,
  managers,
  users,
  groups,
});

function accessShown({ visibility, users, groups, managers }: Draft): ShownField[] {
  return [
    { label: 'Conversations', text: VISIBILITIES[visibility].text },
    { label: 'Users', text: users.join('\n') },
    { label: 'Groups', text: groups.join('\n') },
    { label: 'Managers', text: managers.join('\n') },
  ];
}
