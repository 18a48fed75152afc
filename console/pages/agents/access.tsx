import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { agents } from '../../api/agents.ts';
import type { Agent, AgentAccess } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import type { DisplayedField } from '../../parts/diff/fields.ts';
import { EditForm } from '../../parts/editor/edit-form.tsx';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { type FieldProblems, problemAt } from '../../parts/editor/problems.ts';
import { useEditor } from '../../parts/editor/use-editor.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { PeopleField } from '../../parts/users/people-field.tsx';
import { useUserNames } from '../../parts/users/users.ts';
import { useViewer } from '../../parts/users/viewer.ts';
import { FormSection } from '../../ui/form-section.tsx';
import { RadioOptions } from '../../ui/radio-options.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EntriesField } from './entries-field.tsx';
import { VISIBILITY_LABELS } from './visibility.ts';

const CHOICES = (['private', 'allowlist', 'public'] as const).map((value) => ({
  value,
  ...VISIBILITY_LABELS[value],
}));

/** Access settings of an agent: conversations and managers. */
export function Access({ agent: { agent_id: agentId } }: { agent: Agent }) {
  const query = useQuery(agents.access(agentId));
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  if (query.data) return <AccessForm agentId={agentId} access={query.data} />;
  if (!failure) return <Skeleton lines={6} />;
  return <ErrorState {...failure} curl={curlOf({ path: `/agents/${agentId}/access` })} />;
}

function AccessForm({ agentId, access }: { agentId: string; access: AgentAccess }) {
  const { isTeam } = useViewer();
  const editing = useEditor(access, accessDraftOf);
  const nameOf = useUserNames(peopleIn(access, editing.draft));
  const [searches, setSearches] = useState({ users: '', managers: '' });
  const searchOf = (member: keyof typeof searches) => ({
    text: searches[member],
    onText: (text: string) => setSearches((before) => ({ ...before, [member]: text })),
  });
  return (
    <>
      <EditForm
        noun="agent"
        label="Access to the agent"
        editing={editing}
        newest={access}
        draftOf={accessDraftOf}
        read={(draft) => ({ body: draft, problems: searchProblems(draft, searches) })}
        shown={(draft) => accessFields(draft, nameOf)}
        save={(_, whole) => agents.setAccess(agentId, editing.base.revision, whole)}
        isWhole
        path={`/agents/${agentId}/access`}
        revision={editing.base.revision}
        queryKey={agents.access(agentId).queryKey}
      >
        {(problems) => (
          <>
            {!isTeam && (
              <p className="mb-2 text-muted">
                This service runs without logins. The access settings apply when logins are enabled.
              </p>
            )}
            <FormSection
              title="Conversations"
              lead="Takes effect immediately. Running sessions keep the version they started with."
            >
              <RadioOptions
                label="Who can start conversations"
                value={editing.draft.visibility}
                options={CHOICES}
                onChange={(visibility) => editing.set({ visibility })}
              />
              {editing.draft.visibility === 'allowlist' && (
                <>
                  <PeopleField
                    label="Users"
                    {...searchOf('users')}
                    value={editing.draft.users}
                    onChange={(users) => editing.set({ users })}
                    error={problemAt(problems, '/users')}
                  />
                  <EntriesField
                    label="Groups"
                    hint="Group name as sent by the identity provider."
                    noun="group"
                    value={editing.draft.groups}
                    onChange={(groups) => editing.set({ groups })}
                    error={problemAt(problems, '/groups')}
                  />
                </>
              )}
            </FormSection>
            <FormSection
              title="Managers"
              lead="Managers and the creator can change and share the agent, create deployments, and read and stop its sessions."
            >
              <PeopleField
                label="Managers"
                {...searchOf('managers')}
                value={editing.draft.managers}
                onChange={(managers) => editing.set({ managers })}
                error={problemAt(problems, '/managers')}
              />
            </FormSection>
          </>
        )}
      </EditForm>
      <LeaveGuard isDirty={editing.isDirty} tabs />
    </>
  );
}

type AccessDraft = Omit<AgentAccess, 'version' | 'revision'>;

const accessDraftOf = ({ visibility, managers, users, groups }: AgentAccess): AccessDraft => ({
  visibility,
  managers,
  users,
  groups,
});

function peopleIn(...sources: Pick<AccessDraft, 'users' | 'managers'>[]): string[] {
  return [...new Set(sources.flatMap(({ users, managers }) => [...users, ...managers]))];
}

/** A search that is still open would be lost by saving. */
function searchProblems(
  { visibility }: AccessDraft,
  searches: { users: string; managers: string },
): FieldProblems {
  const isOpen = {
    users: visibility === 'allowlist' && searches.users.trim() !== '',
    managers: searches.managers.trim() !== '',
  };
  const problem = 'Choose a user from the list, or clear the text.';
  return {
    ...(isOpen.users ? { '/users': problem } : {}),
    ...(isOpen.managers ? { '/managers': problem } : {}),
  };
}

function accessFields(
  { visibility, users, groups, managers }: AccessDraft,
  nameOf: (userId: string) => string,
): DisplayedField[] {
  return [
    { label: 'Conversations', text: VISIBILITY_LABELS[visibility].text },
    { label: 'Users', text: users.map(nameOf).join('\n') },
    { label: 'Groups', text: groups.join('\n') },
    { label: 'Managers', text: managers.map(nameOf).join('\n') },
  ];
}
